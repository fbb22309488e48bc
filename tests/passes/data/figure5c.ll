; The paper's Figure 5 (c): after strength reduction, where only global reassociation finds that p3 is &p0[n].
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @window(ptr %a, ptr %out, i64 %b, i64 %c, i64 %n) {
  %x0 = mul i64 %b, %n
  %j0 = add i64 %c, %x0
  %p0 = getelementptr float, ptr %a, i64 %j0
  %v0 = load float, ptr %p0
  %x1 = add i64 %x0, %n
  %j1 = add i64 %c, %x1
  %p3 = getelementptr float, ptr %a, i64 %j1
  %v3 = load float, ptr %p3
  %x2 = add i64 %x1, %n
  %j2 = add i64 %c, %x2
  %p6 = getelementptr float, ptr %a, i64 %j2
  %v6 = load float, ptr %p6
  %s3 = fadd float %v0, %v3
  %s6 = fadd float %s3, %v6
  store float %s6, ptr %out
  ret void
}
