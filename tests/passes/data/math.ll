; ModuleID = 'math.cu'
source_filename = "math.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__kw_threadIdx_t = type { i8 }

$_ZN16__kw_threadIdx_t6read_xEv = comdat any

@threadIdx = extern_weak dso_local addrspace(1) global %struct.__kw_threadIdx_t, align 1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4mathPdPf(ptr noundef %d, ptr noundef %f) #0 !dbg !13 {
entry:
  %d.addr = alloca ptr, align 8
  %f.addr = alloca ptr, align 8
  %i = alloca i32, align 4
  store ptr %d, ptr %d.addr, align 8, !tbaa !16
  store ptr %f, ptr %f.addr, align 8, !tbaa !19
  call void @llvm.lifetime.start.p0(ptr %i) #6, !dbg !21
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #7, !dbg !22
  store i32 %call, ptr %i, align 4, !dbg !23, !tbaa !9
  %0 = load ptr, ptr %d.addr, align 8, !dbg !24, !tbaa !16
  %1 = load i32, ptr %i, align 4, !dbg !25, !tbaa !9
  %idxprom = sext i32 %1 to i64, !dbg !24
  %arrayidx = getelementptr inbounds double, ptr %0, i64 %idxprom, !dbg !24
  %2 = load double, ptr %arrayidx, align 8, !dbg !24, !tbaa !26
  %call1 = call contract noundef double @_ZL3sind(double noundef %2) #7, !dbg !28
  %3 = load ptr, ptr %d.addr, align 8, !dbg !29, !tbaa !16
  %4 = load i32, ptr %i, align 4, !dbg !30, !tbaa !9
  %idxprom2 = sext i32 %4 to i64, !dbg !29
  %arrayidx3 = getelementptr inbounds double, ptr %3, i64 %idxprom2, !dbg !29
  %5 = load double, ptr %arrayidx3, align 8, !dbg !29, !tbaa !26
  %call4 = call contract noundef double @_ZL3expd(double noundef %5) #7, !dbg !31
  %add = fadd contract double %call1, %call4, !dbg !32
  %6 = load ptr, ptr %d.addr, align 8, !dbg !33, !tbaa !16
  %7 = load i32, ptr %i, align 4, !dbg !34, !tbaa !9
  %idxprom5 = sext i32 %7 to i64, !dbg !33
  %arrayidx6 = getelementptr inbounds double, ptr %6, i64 %idxprom5, !dbg !33
  store double %add, ptr %arrayidx6, align 8, !dbg !35, !tbaa !26
  %8 = load ptr, ptr %f.addr, align 8, !dbg !36, !tbaa !19
  %9 = load i32, ptr %i, align 4, !dbg !37, !tbaa !9
  %idxprom7 = sext i32 %9 to i64, !dbg !36
  %arrayidx8 = getelementptr inbounds float, ptr %8, i64 %idxprom7, !dbg !36
  %10 = load float, ptr %arrayidx8, align 4, !dbg !36, !tbaa !38
  %call9 = call contract noundef float @_ZL4powfff(float noundef %10, float noundef 2.500000e+00) #7, !dbg !40
  %11 = load ptr, ptr %f.addr, align 8, !dbg !41, !tbaa !19
  %12 = load i32, ptr %i, align 4, !dbg !42, !tbaa !9
  %idxprom10 = sext i32 %12 to i64, !dbg !41
  %arrayidx11 = getelementptr inbounds float, ptr %11, i64 %idxprom10, !dbg !41
  %13 = load float, ptr %arrayidx11, align 4, !dbg !41, !tbaa !38
  %call12 = call contract noundef float @_ZL5sqrtff(float noundef %13) #7, !dbg !43
  %add13 = fadd contract float %call9, %call12, !dbg !44
  %14 = load ptr, ptr %f.addr, align 8, !dbg !45, !tbaa !19
  %15 = load i32, ptr %i, align 4, !dbg !46, !tbaa !9
  %idxprom14 = sext i32 %15 to i64, !dbg !45
  %arrayidx15 = getelementptr inbounds float, ptr %14, i64 %idxprom14, !dbg !45
  store float %add13, ptr %arrayidx15, align 4, !dbg !47, !tbaa !38
  call void @llvm.lifetime.end.p0(ptr %i) #6, !dbg !48
  ret void, !dbg !48
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #2 comdat align 2 {
entry:
  %0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %0
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef double @_ZL3sind(double noundef %x) #2 {
entry:
  %x.addr = alloca double, align 8
  store double %x, ptr %x.addr, align 8, !tbaa !26
  %0 = load double, ptr %x.addr, align 8, !tbaa !26
  %call = call contract double @__nv_sin(double noundef %0) #8
  ret double %call
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef double @_ZL3expd(double noundef %x) #2 {
entry:
  %x.addr = alloca double, align 8
  store double %x, ptr %x.addr, align 8, !tbaa !26
  %0 = load double, ptr %x.addr, align 8, !tbaa !26
  %call = call contract double @__nv_exp(double noundef %0) #8
  ret double %call
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef float @_ZL4powfff(float noundef %x, float noundef %y) #2 {
entry:
  %x.addr = alloca float, align 4
  %y.addr = alloca float, align 4
  store float %x, ptr %x.addr, align 4, !tbaa !38
  store float %y, ptr %y.addr, align 4, !tbaa !38
  %0 = load float, ptr %x.addr, align 4, !tbaa !38
  %1 = load float, ptr %y.addr, align 4, !tbaa !38
  %call = call contract float @__nv_powf(float noundef %0, float noundef %1) #8
  ret float %call
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef float @_ZL5sqrtff(float noundef %x) #2 {
entry:
  %x.addr = alloca float, align 4
  store float %x, ptr %x.addr, align 4, !tbaa !38
  %0 = load float, ptr %x.addr, align 4, !tbaa !38
  %1 = call contract float @llvm.sqrt.f32(float %0)
  ret float %1
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #3

; Function Attrs: nounwind willreturn memory(none)
declare dso_local double @__nv_sin(double noundef) #4

; Function Attrs: nounwind willreturn memory(none)
declare dso_local double @__nv_exp(double noundef) #4

; Function Attrs: nounwind willreturn memory(none)
declare dso_local float @__nv_powf(float noundef, float noundef) #4

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.sqrt.f32(float) #5

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #3 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #5 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { nounwind }
attributes #7 = { convergent nounwind }
attributes #8 = { nounwind willreturn memory(none) }

!llvm.module.flags = !{!0, !1, !2, !3, !4, !5}
!llvm.dbg.cu = !{!6}
!llvm.ident = !{!8}
!llvm.errno.tbaa = !{!9}

!0 = !{i32 2, !"SDK Version", [2 x i32] [i32 12, i32 8]}
!1 = !{i32 7, !"Dwarf Version", i32 2}
!2 = !{i32 2, !"Debug Info Version", i32 3}
!3 = !{i32 1, !"wchar_size", i32 4}
!4 = !{i32 4, !"nvvm-reflect-ftz", i32 0}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = distinct !DICompileUnit(language: DW_LANG_C_plus_plus_14, file: !7, producer: "clang version 22.1.8", isOptimized: true, runtimeVersion: 0, emissionKind: DebugDirectivesOnly, splitDebugInlining: false, nameTableKind: None)
!7 = !DIFile(filename: "math.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "math", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 double", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !{!20, !20, i64 0}
!20 = !{!"p1 float", !18, i64 0}
!21 = !DILocation(line: 3, column: 3, scope: !13)
!22 = !DILocation(line: 3, column: 11, scope: !13)
!23 = !DILocation(line: 3, column: 7, scope: !13)
!24 = !DILocation(line: 4, column: 14, scope: !13)
!25 = !DILocation(line: 4, column: 16, scope: !13)
!26 = !{!27, !27, i64 0}
!27 = !{!"double", !11, i64 0}
!28 = !DILocation(line: 4, column: 10, scope: !13)
!29 = !DILocation(line: 4, column: 26, scope: !13)
!30 = !DILocation(line: 4, column: 28, scope: !13)
!31 = !DILocation(line: 4, column: 22, scope: !13)
!32 = !DILocation(line: 4, column: 20, scope: !13)
!33 = !DILocation(line: 4, column: 3, scope: !13)
!34 = !DILocation(line: 4, column: 5, scope: !13)
!35 = !DILocation(line: 4, column: 8, scope: !13)
!36 = !DILocation(line: 5, column: 15, scope: !13)
!37 = !DILocation(line: 5, column: 17, scope: !13)
!38 = !{!39, !39, i64 0}
!39 = !{!"float", !11, i64 0}
!40 = !DILocation(line: 5, column: 10, scope: !13)
!41 = !DILocation(line: 5, column: 35, scope: !13)
!42 = !DILocation(line: 5, column: 37, scope: !13)
!43 = !DILocation(line: 5, column: 29, scope: !13)
!44 = !DILocation(line: 5, column: 27, scope: !13)
!45 = !DILocation(line: 5, column: 3, scope: !13)
!46 = !DILocation(line: 5, column: 5, scope: !13)
!47 = !DILocation(line: 5, column: 8, scope: !13)
!48 = !DILocation(line: 6, column: 1, scope: !13)
