"""A step of training a network with one hidden layer and one output: forward through both layers, errors back, and the weights of both
adjusted, with momentum: each changes by a part of its error's slope and of its last change."""

from kernelwright.suite.multiversion.nests import Array, Code, Fold, Map, NestedProgram

_FUNCTIONS = """
static __device__ float squashed(float x) { return 1 / (1 + expf(-x)); }
/* The new change of a weight; both rates are 0.3. */
static __device__ float change(float delta, float activation, float last) { return 0.3f * delta * activation + 0.3f * last; }
"""
_OUTPUT = """
float result = squashed(answer + outer_bias[unit]);
outer_delta[unit] = result * (1 - result) * (1 - result);
outer_bias[unit] += change(outer_delta[unit], 1, 0);
"""
_BACK = """
delta[h] = activation[h] * (1 - activation[h]) * outer_weight[h] * outer_delta[0];
last_outer[h] = change(outer_delta[0], activation[h], last_outer[h]);
outer_weight[h] += last_outer[h];
bias[h] += change(delta[h], 1, 0);
"""
_ADJUST = """
last[h * inputs + i] = change(delta[h], input[i], last[h * inputs + i]);
weight[h * inputs + i] += last[h * inputs + i];
"""

PROGRAM = NestedProgram(
    name="backprop",
    line="a training step of a network with one hidden layer: the weights of both layers adjusted",
    parameters=("inputs", "hidden"),
    arrays=(
        Array("input", "inputs", "noise(i)"),
        Array("weight", "hidden * inputs", "noise(i) * 4 / inputs"),
        Array("last", "hidden * inputs", "noise(i + 3) / inputs"),
        Array("bias", "hidden", "noise(i + 5)"),
        Array("activation", "hidden"),
        Array("delta", "hidden"),
        Array("outer_weight", "hidden", "noise(i + 7) / hidden"),
        Array("last_outer", "hidden", "noise(i + 9) / hidden"),
        Array("outer_bias", "1", "0.1f"),
        Array("outer_delta", "1"),
        Array("error", "1"),
    ),
    body=(
        Map(
            "h",
            "hidden",
            (
                Fold("net", "i", "inputs", "weight[h * inputs + i] * input[i]"),
                Code("activation[h] = squashed(net + bias[h]);"),
            ),
            scalars=(("float", "net"),),
            name="forward",
        ),
        Map(
            "unit",
            "1",
            (Fold("answer", "h", "hidden", "outer_weight[h] * activation[h]"), Code(_OUTPUT)),
            scalars=(("float", "answer"),),
            name="output",
        ),
        Map(
            "h",
            "hidden",
            (Code(_BACK), Map("i", "inputs", (Code(_ADJUST),))),
            name="adjust",
        ),
        Map(
            "unit",
            "1",
            (Fold("sum", "h", "hidden", "fabsf(delta[h])"), Code("error[unit] = sum;")),
            scalars=(("float", "sum"),),
            name="hidden_error",
        ),
    ),
    outputs=("weight", "bias", "outer_weight", "outer_bias", "outer_delta", "error"),
    datasets=("1024 16", "16384 16"),
    large=("16384 16", "1048576 16"),
    scale="2^10 and 2^14 inputs; the paper has 2^14 and 2^20",
    functions=_FUNCTIONS,
)
