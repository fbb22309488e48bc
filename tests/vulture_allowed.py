# Names that vulture takes for unused, each group with the reason it stays. `make dead` runs it over src and benchmarks; a name
# that only tests use is dead unless it stands here.

# The package's public names, loaded by their text (kernelwright/__init__.py) or named in documents and exported files.
evolve
from_kernel_tuner
expert  # kw.expert; staged and its like are what a plan is made of
_.staged
load_genes  # an exported README sends its reader here
dump_genes
apply_genes
apply_to
_.from_program  # a workload of a whole program, as evaluate/workload/workload.py says
_.with_cases
_.to_pandas  # the same for pandas
_._repr_html_  # what notebooks call
_.history  # the table of a finished run, for NumPy and pandas
_.last_operations  # what a capture holds besides launches
_.operation_content
_.save  # the file of a calibration, as docs/timing-model.md says
clone_function  # a further version of a kernel in the same module

# Ways to change IR by hand; the tests of the verifier change modules with them.
_.add_incoming
_.remove_incoming
_.move_before
_.add_block
_.definitions
bf16
Constant  # the name for any of the constants in annotations

# What cli/__init__.py calls.
with_settings
take_loudness

# Loaded by name: commands and their options, programs of the suite, methods that click and the language call.
run_quickly
_.list_commands
_.__signature__
__getattr__
PROGRAM
_.__cause__
_.__str__
__call__

# Fields of C structs that our runtime libraries read: launch contexts of simt.h.
_.n_points
_.n_counts
_.n_order
_.n_by_value
_.blind_sites
_.true_sites
_.counting
_.n_sites
_.print_size
_.warp_order
_.n_groups
_.fresh_bytes
_.fresh_sites
_.new_shape
_.patience_ns
_.ntid
_.block_shared
_.dynamic_shared
_.group_rows
_.warp_rows
_.watch_every
_.n_watch_list
_.watch_list
_.local_written
_.shared_written

# Fields and numbers of the protocol between programs and the device (cuda/wire/protocol.py, cuda/wire/structures.py, protocol.h): written
# and read as bytes, all of them by the client in C.
c_name
MESSAGE_LIMIT
NVIDIA
EXTERNAL
device_count
arena_address
arena_size
staging_address
staging_size
parameter_count
constant_bytes
binary_version
milliseconds
shared_bytes_per_block
shared_bytes_per_block_optin
shared_bytes_per_multiprocessor
reserved_shared_bytes_per_block
max_pitch
texture_alignment
texture_pitch_alignment
surface_alignment
warp_size
max_threads_per_block
max_blocks_per_multiprocessor
max_block
max_grid
registers_per_block
registers_per_multiprocessor
memory_clock_khz
persisting_l2_bytes
async_engines
ecc
integrated
concurrent_kernels
concurrent_managed_access
pageable_memory_access
cooperative_launch
compute_preemption
single_to_double_ratio
max_texture_1d
max_texture_1d_linear
max_texture_2d
max_texture_2d_linear
max_texture_3d
pci_bus
pci_device
pci_domain
kernel_timeout
virtual_device
INVALID_DEVICE  # a table of CUDA's error numbers
LAUNCH_OUT_OF_RESOURCES

# Read by generated Python code of the slow executor (device/reference/body.py).
_.ntid_z
_.nctaid_x
_.nctaid_y
_.nctaid_z
_.ctaid_x
_.ctaid_y
_.ctaid_z
_.sp
_.recharge

# Settings of LLVM's options object.
_.slp_vectorization
_.loop_unrolling

# Fields of values that are written as JSON or read field by field, and rows of published tables.
dram
static_instructions
source_pitch
source_slice
registers_per_thread
SET_FILE
improved  # what the farm says of a generation
_.looked_up  # how many answers a run took from other runs
CHANGES  # the kinds of change that words name; a test holds the words to them
KEYS  # what each field of a profile's rows is

# Arguments that only make two calls different, or that a protocol of Python passes.
modified_ns
memo

# The edits' lists of where they apply; tests hold what is drawn against them.
applicable
cache_policies

# Tests read them where the product only needs what they stand for.
_.is_held
invariant_from_json
versions_of  # kw.winners

# Hooks that pytest calls by their names.
pytest_addoption
pytest_configure
pytest_runtest_call
pytest_terminal_summary

# A hook that Python calls; the room at the end of the engine's record.
_.__init_subclass__
log_room
log_size  # what a walk says of the size of its space
Decided  # the state of a space as code generation reads it
_.decide
_.completed
_.rich_help_panel  # read by typer where it lists commands
_.ANSWER  # as the wire has it; a library's answers are those that are none of the others
_.ptx_size  # as the wire has it; the program's side reads them
_.names_size
_.image_size
