/* The last page of the section "kw_managed"; linked into programs that have managed variables. Its alignment makes the
   section start with a page, and its place at the end of the link makes the section end with one. */
__attribute__((section("kw_managed"), used, aligned(4096))) char kw_managed_end[4096];
