; Every construct the reader knows, and some it keeps as text.
source_filename = "weird \22name\22.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"
module asm ".global .b8 thing;"

%pair = type { i32, %"class.std::pair<int, float>" }
%"class.std::pair<int, float>" = type <{ i8, [3 x { i16, i16 }] }>
%hidden = type opaque
%union.u = type { [2 x <4 x float>] }

$inline = comdat any
@"odd name" = global i32 5
@inline = linkonce_odr addrspace(1) global [2 x %pair] zeroinitializer, comdat, align 8
@t = internal unnamed_addr constant { ptr, i64, [2 x i8], <2 x i1>, <{ i8, i32 }> } { ptr getelementptr inbounds (i8, ptr @"odd name", i64 4), i64 ptrtoint (ptr @"odd name" to i64), [2 x i8] c"\00a", <2 x i1> <i1 true, i1 false>, <{ i8, i32 }> <{ i8 1, i32 -7 }> }, section "x,y", align 16
@half = addrspace(4) constant [3 x half] [half 0xH3C00, half 0xH7C00, half 0xH0001]
@bf = addrspace(4) constant bfloat 0xR3F80
@splat = constant <4 x i32> splat (i32 7)
@fsplat = constant <2 x float> splat (float 1.500000e+00)
@nan = constant double 0x7FF8000000000000
@tenth = constant float 0x3FB99999A0000000
@ext = external addrspace(3) global [0 x i32], align 16
@tl = thread_local(localexec) global i32 0
@diff = constant i64 sub (i64 ptrtoint (ptr @f to i64), i64 ptrtoint (ptr @t to i64))
@undefd = addrspace(3) global [4 x i32] undef, align 4
@p = addrspace(3) global [4 x [5 x ptr addrspace(1)]] poison, align 8
@al = alias i32, ptr @"odd name"
@al2 = internal alias i8, getelementptr inbounds (i8, ptr @t, i64 8)
@ptrs = global [2 x ptr] [ptr @f, ptr @g]
@big = constant i128 170141183460469231731687303715884105727
@inr = constant ptr getelementptr inrange(-16, 16) (i8, ptr @t, i64 16)
@shuffled = constant <4 x i64> shufflevector (<2 x i64> <i64 ptrtoint (ptr @t to i64), i64 0>, <2 x i64> poison, <4 x i32> zeroinitializer)
@f128 = constant fp128 0xL00000000000000003FFF000000000000
@x80 = constant x86_fp80 0xK3FFF8000000000000000

declare i32 @printf(ptr, ...)
declare void @llvm.assume(i1 noundef)
declare !srcloc !0 i32 @decl_md(ptr noalias captures(none) dereferenceable(8), i32 range(i32 0, 10)) nounwind
declare range(i32 0, 5) i32 @ranged()
declare void @byv(ptr byval(%pair) align 8, ptr sret({ i32, i64 }) align 8)
declare float @llvm.experimental.constrained.fadd.f32(float, float, metadata, metadata)
declare i32 @llvm.read_register.i32(metadata)

define i32 @f(i32, ptr %"a b", i32 %2) #0 {
  %4 = add nuw nsw i32 %0, %2
  %x = or disjoint i32 %4, 1
  %y = lshr exact i32 %x, 1
  %z = zext nneg i32 %y to i64
  %t = trunc nuw nsw i64 %z to i16
  %c = icmp samesign ult i32 %y, 9
  %fc = fcmp nnan ninf olt float 1.0, 2.0
  %ft = fcmp true float 1.0, 2.0
  %s = select i1 %c, i32 %y, i32 %x
  %sv = select <2 x i1> <i1 true, i1 false>, <2 x i32> <i32 1, i32 2>, <2 x i32> zeroinitializer
  %vc = icmp slt <2 x i32> %sv, splat (i32 3)
  switch i32 %s, label %def [
    i32 1, label %a
    i32 -5, label %"b c"
    i32 7, label %a
  ]

a:                                                ; preds = %3, %3
  br i1 %c, label %def, label %"b c", !prof !{!"branch_weights", i32 1, i32 2000}

"b c":
  %phi = phi i32 [ %4, %3 ], [ %later, %"b c" ], [ 0, %a ]
  %later = add i32 %phi, 1
  %c2 = icmp eq i32 %later, 100
  br i1 %c2, label %"b c", label %def

def:
  %r = phi fast float [ 1.000000e+00, %3 ], [ 2.000000e+00, %a ], [ 0x3FB99999A0000000, %"b c" ]
  %i = fptosi float %r to i32
  %q = call i32 (ptr, ...) @printf(ptr @t, i32 %i, double 1.0)
  call void @llvm.assume(i1 true) [ "align"(ptr %"a b", i64 16), "nonnull"(ptr %"a b") ]
  %m = musttail call i32 @f(i32 %i, ptr %"a b", i32 %q)
  ret i32 %m
}

define internal fastcc noundef float @g(<4 x float> %v, { i32, float } %agg, [2 x i64] %arr) local_unnamed_addr nounwind align 16 !dbg !1 {
entry:
  %e = extractelement <4 x float> %v, i32 2
  %v2 = insertelement <4 x float> %v, float %e, i64 0
  %sh = shufflevector <4 x float> %v, <4 x float> %v2, <2 x i32> <i32 0, i32 7>
  %sh2 = shufflevector <4 x float> %v, <4 x float> poison, <8 x i32> zeroinitializer
  %ev = extractvalue { i32, float } %agg, 1
  %iv = insertvalue [2 x i64] %arr, i64 7, 1
  %n = fneg fast float %ev
  %fr = freeze float %n
  %al = alloca [4 x %pair], align 16
  %al2 = alloca i32, i32 5, align 4, addrspace(5)
  %gp = getelementptr inbounds nuw %pair, ptr %al, i64 0, i32 1, i32 1, i64 2
  %gv = getelementptr i8, ptr %al, <2 x i64> <i64 1, i64 2>
  %as = addrspacecast ptr addrspace(1) @inline to ptr
  %la = load atomic volatile i32, ptr %as syncscope("device") acquire, align 4
  %lb = load volatile <4 x float>, ptr addrspace(1) @inline, align 16, !invariant.load !0
  store atomic i32 %la, ptr %as syncscope("block") release, align 4
  store volatile float %fr, ptr %gp
  fence syncscope("device") seq_cst
  fence acquire
  %rmw = atomicrmw volatile fadd ptr addrspace(1) @inline, float 1.0 syncscope("device") monotonic, align 4
  %rm2 = atomicrmw umax ptr %as, i32 5 seq_cst
  %cx = cmpxchg weak ptr %as, i32 0, i32 %la syncscope("device") acq_rel monotonic, align 4
  %cv = extractvalue { i32, i1 } %cx, 0
  %fp = load ptr, ptr %as
  call void %fp(i32 %cv)
  %as1 = call { i32, i32 } asm sideeffect "mov.u32 $0, $2; , !x \22 ; add $1", "=r,=r,r,~{memory}"(i32 %cv) nounwind, !srcloc !0
  %cfa = call float @llvm.experimental.constrained.fadd.f32(float %n, float 1.0, metadata !"round.tonearest", metadata !"fpexcept.strict") strictfp
    #dbg_value(i32 %cv, !8, !DIExpression(DW_OP_plus_uconst, 8, DW_OP_stack_value), !9)
    #dbg_declare(ptr %al, !8, !DIExpression(), !9)
  %reg = call i32 @llvm.read_register.i32(metadata !7)
  call void @byv(ptr byval(%pair) align 8 %al, ptr sret({ i32, i64 }) align 8 null)
  %rg = call range(i32 0, 5) i32 @ranged() #1
  call fastcc void @h(ptr addrspace(3) align 4 dereferenceable_or_null(16) @undefd, i1 zeroext true) "key"="value" "flag"
  %bc = bitcast <2 x float> %sh to i64
  %pi = ptrtoint ptr %as to i64
  %ip = inttoptr i64 %pi to ptr addrspace(3)
  ret float %fr
}

define void @h(ptr addrspace(3), i1) {
  br label %3
3:
  call i32 @ranged()
  br i1 %1, label %6, label %5
5:                                                ; preds = %3
  %x = call i32 @ranged()
  unreachable
6:
  ret void
}
define void @"quoted fn"() personality ptr @f {
  invoke void @h(ptr addrspace(3) null, i1 false) to label %ok unwind label %bad
ok:
  %addr = va_arg ptr null, i32
  ret void
bad:
  %lp = landingpad { ptr, i32 } cleanup catch ptr @t
  resume { ptr, i32 } %lp
}
define void @dead(i32 %n) {
  ret void
unreached:
  %a = add i32 %b, %n
  %b = add i32 %a, 1
  br label %unreached
}
attributes #0 = { nounwind "target-cpu"="sm_70" memory(argmem: readwrite) }
attributes #1 = { convergent }
!llvm.module.flags = !{!2}
!0 = !{i32 1}
!1 = distinct !DISubprogram(name: "g", scope: !3, file: !3, line: 1, type: !4, unit: !5, spFlags: DISPFlagDefinition)
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !DIFile(filename: "a.cu", directory: "/x")
!4 = !DISubroutineType(types: !6)
!5 = distinct !DICompileUnit(language: DW_LANG_C99, file: !3, emissionKind: DebugDirectivesOnly)
!6 = !{null}
!7 = !{!"sp\00, !x"}
!8 = !DILocalVariable(name: "v", scope: !1, file: !3, line: 3)
!9 = !DILocation(line: 4, column: 2, scope: !1)
!llvm.dbg.cu = !{!5}
