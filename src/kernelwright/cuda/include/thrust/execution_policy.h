#include "../kernelwright/needs_nvidia_thrust.h"
