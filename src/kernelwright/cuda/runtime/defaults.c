/* Used when the link step built no others in: no device unless KERNELWRIGHT_DEVICE asks for one. */
const char kernelwright_default_device[] = "none";
const char kernelwright_default_worker[] = "";
