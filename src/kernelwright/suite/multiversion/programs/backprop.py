"""A step of training a network with one hidden layer: forward, error, and the weights of the first layer adjusted."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Map, NestedProgram

PROGRAM = NestedProgram(
    name="backprop",
    line="a training step of a network with one hidden layer",
    parameters=("inputs", "hidden"),
    arrays=(
        Array("input", "inputs", "noise(i)"),
        Array("weight", "hidden * inputs", "noise(i) * 4 / inputs"),
        Array("outer_weight", "hidden", "noise(i + 7) / hidden"),
        Array("activation", "hidden"),
        Array("error", "1"),
    ),
    body=(
        Map(
            "h",
            "hidden",
            (
                Fold("net", "i", "inputs", "weight[h * inputs + i] * input[i]"),
                Code("activation[h] = 1 / (1 + expf(-net));"),
            ),
            scalars=(("float", "net"),),
            name="forward",
        ),
        Map(
            "unit",
            "1",
            (
                Fold("answer", "h", "hidden", "outer_weight[h] * activation[h]"),
                Code("error[unit] = (1 - 1 / (1 + expf(-answer))) / 4;"),
            ),
            scalars=(("float", "answer"),),
            name="output",
        ),
        Map(
            "h",
            "hidden",
            (
                Code("delta = activation[h] * (1 - activation[h]) * outer_weight[h] * error[0];"),
                Map("i", "inputs", (Code("weight[h * inputs + i] += 0.3f * delta * input[i];"),)),
            ),
            scalars=(("float", "delta"),),
            name="adjust",
        ),
    ),
    outputs=("weight", "error"),
    datasets=("1024 16", "16384 16"),
    large=("16384 16", "1048576 16"),
    scale="2^10 and 2^14 inputs; the paper has 2^14 and 2^20",
)
