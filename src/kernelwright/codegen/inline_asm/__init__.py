"""Inline PTX as IR: the statements of one ``asm`` taken apart, each PTX instruction translated."""
