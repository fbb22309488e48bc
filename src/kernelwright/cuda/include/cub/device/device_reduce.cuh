#include "../../kernelwright/needs_nvidia_cub.h"
