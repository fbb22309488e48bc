; The paper's Figure 5 (a): the nine addresses of Figure 6 after unrolling, before any straight-line step.
target triple = "nvptx64-nvidia-cuda"

define ptx_kernel void @window(ptr %a, ptr %out, i64 %b, i64 %c, i64 %n) {
  %c1 = add nsw i64 %c, 1
  %c2 = add nsw i64 %c, 2
  %b1 = add nsw i64 %b, 1
  %b2 = add nsw i64 %b, 2
  %x0 = mul nsw i64 %b, %n
  %x1 = mul nsw i64 %b1, %n
  %x2 = mul nsw i64 %b2, %n
  %i0 = add nsw i64 %c, %x0
  %i1 = add nsw i64 %c1, %x0
  %i2 = add nsw i64 %c2, %x0
  %i3 = add nsw i64 %c, %x1
  %i4 = add nsw i64 %c1, %x1
  %i5 = add nsw i64 %c2, %x1
  %i6 = add nsw i64 %c, %x2
  %i7 = add nsw i64 %c1, %x2
  %i8 = add nsw i64 %c2, %x2
  %p0 = getelementptr inbounds float, ptr %a, i64 %i0
  %v0 = load float, ptr %p0
  %p1 = getelementptr inbounds float, ptr %a, i64 %i1
  %v1 = load float, ptr %p1
  %p2 = getelementptr inbounds float, ptr %a, i64 %i2
  %v2 = load float, ptr %p2
  %p3 = getelementptr inbounds float, ptr %a, i64 %i3
  %v3 = load float, ptr %p3
  %p4 = getelementptr inbounds float, ptr %a, i64 %i4
  %v4 = load float, ptr %p4
  %p5 = getelementptr inbounds float, ptr %a, i64 %i5
  %v5 = load float, ptr %p5
  %p6 = getelementptr inbounds float, ptr %a, i64 %i6
  %v6 = load float, ptr %p6
  %p7 = getelementptr inbounds float, ptr %a, i64 %i7
  %v7 = load float, ptr %p7
  %p8 = getelementptr inbounds float, ptr %a, i64 %i8
  %v8 = load float, ptr %p8
  %s1 = fadd float %v0, %v1
  %s2 = fadd float %s1, %v2
  %s3 = fadd float %s2, %v3
  %s4 = fadd float %s3, %v4
  %s5 = fadd float %s4, %v5
  %s6 = fadd float %s5, %v6
  %s7 = fadd float %s6, %v7
  %s8 = fadd float %s7, %v8
  store float %s8, ptr %out
  ret void
}
