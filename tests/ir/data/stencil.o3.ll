; ModuleID = '<string>'
source_filename = "stencil.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@coefficients = dso_local addrspace(4) externally_initialized constant [8 x float] [float 5.000000e-01, float 0x3FB99999A0000000, float -2.500000e-01, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00], align 4
@_ZZ4heatPKfPfS0_iifE4tile = internal unnamed_addr addrspace(3) global [16 x [16 x float]] undef, align 4
@_ZZ4heatPKfPfS0_iifE4next = internal unnamed_addr addrspace(3) global [16 x [16 x float]] undef, align 4
@_ZZ5pathsPKiS0_PiiiE4last = internal unnamed_addr addrspace(3) global [256 x i32] undef, align 4
@now = external dso_local local_unnamed_addr addrspace(3) global [0 x i32], align 4
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(4) @coefficients to ptr)], section "llvm.metadata"

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4heatPKfPfS0_iif(ptr noalias noundef readonly captures(none) %0, ptr noundef writeonly captures(none) %1, ptr noundef readonly captures(none) %2, i32 noundef %3, i32 noundef %4, float noundef %5) local_unnamed_addr #0 !dbg !13 {
  %7 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !16
  %8 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.y(), !dbg !17
  %9 = tail call noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !18
  %10 = shl nsw i32 %9, 4, !dbg !22
  %11 = add nuw nsw i32 %10, %7, !dbg !23
  %12 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y(), !dbg !24
  %13 = shl nuw nsw i32 %12, 4, !dbg !25
  %14 = add nuw nsw i32 %13, %8, !dbg !26
  %15 = icmp slt i32 %11, %3, !dbg !27
  %16 = icmp slt i32 %14, %3, !dbg !28
  %17 = select i1 %15, i1 %16, i1 false, !dbg !28
  br i1 %17, label %18, label %28, !dbg !29

18:                                               ; preds = %6
  %19 = mul nsw i32 %3, %14, !dbg !30
  %20 = add nuw nsw i32 %19, %11, !dbg !31
  %21 = zext nneg i32 %20 to i64, !dbg !32
  %22 = getelementptr inbounds nuw float, ptr %2, i64 %21, !dbg !32
  %23 = load float, ptr %22, align 4, !dbg !32, !tbaa !33
  %24 = zext nneg i32 %8 to i64, !dbg !35
  %25 = getelementptr inbounds nuw [16 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 %24, !dbg !35
  %26 = zext nneg i32 %7 to i64, !dbg !35
  %27 = getelementptr inbounds nuw float, ptr %25, i64 %26, !dbg !35
  store float %23, ptr %27, align 4, !dbg !36, !tbaa !33
  br label %28, !dbg !35

28:                                               ; preds = %18, %6
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !37
  %29 = icmp sgt i32 %4, 0, !dbg !40
  br i1 %29, label %.lr.ph, label %.critedge, !dbg !41

.lr.ph:                                           ; preds = %28
  %30 = zext nneg i32 %8 to i64
  %31 = getelementptr inbounds nuw [16 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 %30
  %32 = zext nneg i32 %7 to i64
  %33 = getelementptr inbounds nuw float, ptr %31, i64 %32
  %34 = mul nsw i32 %3, %14
  %35 = add nsw i32 %34, %11
  %36 = zext nneg i32 %35 to i64
  %37 = getelementptr inbounds nuw float, ptr %0, i64 %36
  %38 = getelementptr inbounds nuw i8, ptr %31, i64 64
  %39 = getelementptr inbounds nuw float, ptr %38, i64 %32
  %40 = getelementptr i8, ptr %31, i64 -64
  %41 = getelementptr inbounds nuw float, ptr %40, i64 %32
  %42 = getelementptr inbounds nuw i8, ptr %33, i64 4
  %43 = getelementptr i8, ptr %33, i64 -4
  %44 = getelementptr inbounds nuw [16 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4next to ptr), i64 %30
  %45 = getelementptr inbounds nuw float, ptr %44, i64 %32
  %46 = add nsw i32 %4, -1
  br label %47, !dbg !41

47:                                               ; preds = %81, %.lr.ph
  %.06075 = phi i32 [ 0, %.lr.ph ], [ %82, %81 ]
  %48 = icmp samesign ugt i32 %7, %.06075, !dbg !42
  br i1 %48, label %49, label %76, !dbg !43

49:                                               ; preds = %47
  %50 = sub nsw i32 15, %.06075, !dbg !44
  %51 = icmp slt i32 %7, %50, !dbg !45
  %52 = icmp samesign ugt i32 %8, %.06075
  %or.cond73 = select i1 %51, i1 %52, i1 false, !dbg !46
  %53 = icmp slt i32 %8, %50
  %54 = and i1 %53, %or.cond73, !dbg !46
  %or.cond74 = and i1 %17, %54, !dbg !46
  br i1 %or.cond74, label %55, label %76, !dbg !46

55:                                               ; preds = %49
  %56 = load float, ptr %33, align 4, !dbg !47, !tbaa !33
  %57 = load float, ptr %37, align 4, !dbg !48, !tbaa !33
  %58 = and i32 %.06075, 7, !dbg !49
  %59 = zext nneg i32 %58 to i64, !dbg !50
  %60 = getelementptr inbounds nuw float, ptr addrspacecast (ptr addrspace(4) @coefficients to ptr), i64 %59, !dbg !50
  %61 = load float, ptr %60, align 4, !dbg !50, !tbaa !33
  %62 = fmul contract float %57, %61, !dbg !51
  %63 = load float, ptr %39, align 4, !dbg !52, !tbaa !33
  %64 = load float, ptr %41, align 4, !dbg !53, !tbaa !33
  %65 = fadd contract float %63, %64, !dbg !54
  %66 = fmul contract float %56, 2.000000e+00, !dbg !55
  %67 = fsub contract float %65, %66, !dbg !56
  %68 = fadd contract float %62, %67, !dbg !57
  %69 = load float, ptr %42, align 4, !dbg !58, !tbaa !33
  %70 = load float, ptr %43, align 4, !dbg !59, !tbaa !33
  %71 = fadd contract float %69, %70, !dbg !60
  %72 = fsub contract float %71, %66, !dbg !61
  %73 = fadd contract float %68, %72, !dbg !62
  %74 = fmul contract float %5, %73, !dbg !63
  %75 = fadd contract float %56, %74, !dbg !64
  store float %75, ptr %45, align 4, !dbg !65, !tbaa !33
  br label %76, !dbg !66

76:                                               ; preds = %55, %49, %47
  %.2.off0 = phi i1 [ true, %55 ], [ false, %49 ], [ false, %47 ]
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !67
  %77 = icmp eq i32 %.06075, %46, !dbg !69
  br i1 %77, label %._crit_edge, label %78, !dbg !69

78:                                               ; preds = %76
  br i1 %.2.off0, label %79, label %81, !dbg !70

79:                                               ; preds = %78
  %80 = load float, ptr %45, align 4, !dbg !71, !tbaa !33
  store float %80, ptr %33, align 4, !dbg !72, !tbaa !33
  br label %81, !dbg !73

81:                                               ; preds = %79, %78
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !74
  %82 = add nuw nsw i32 %.06075, 1, !dbg !76
  br label %47, !dbg !41

._crit_edge:                                      ; preds = %76
  br i1 %.2.off0, label %83, label %.critedge, !dbg !77

83:                                               ; preds = %._crit_edge
  %84 = load float, ptr %45, align 4, !dbg !78, !tbaa !33
  %85 = sext i32 %35 to i64, !dbg !79
  %86 = getelementptr inbounds float, ptr %1, i64 %85, !dbg !79
  store float %84, ptr %86, align 4, !dbg !80, !tbaa !33
  br label %.critedge, !dbg !79

.critedge:                                        ; preds = %28, %83, %._crit_edge
  ret void, !dbg !81
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z5pathsPKiS0_Piii(ptr noundef readonly captures(none) %0, ptr noundef readonly captures(none) %1, ptr noundef writeonly captures(none) %2, i32 noundef %3, i32 noundef %4) local_unnamed_addr #0 !dbg !82 {
  %6 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !83
  %7 = tail call noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !86
  %8 = tail call noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x(), !dbg !90
  %9 = mul nuw nsw i32 %7, %8, !dbg !93
  %10 = add nuw nsw i32 %9, %6, !dbg !94
  %11 = add nsw i32 %3, -1, !dbg !95
  %12 = tail call noundef i32 @llvm.smin.i32(i32 %10, i32 %11), !dbg !96
  %13 = sext i32 %12 to i64, !dbg !99
  %14 = getelementptr inbounds i32, ptr %1, i64 %13, !dbg !99
  %15 = load i32, ptr %14, align 4, !dbg !99, !tbaa !9
  %16 = zext nneg i32 %6 to i64, !dbg !100
  %17 = getelementptr inbounds nuw i32, ptr addrspacecast (ptr addrspace(3) @_ZZ5pathsPKiS0_PiiiE4last to ptr), i64 %16, !dbg !100
  store i32 %15, ptr %17, align 4, !dbg !101, !tbaa !9
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !102
  %18 = icmp sgt i32 %4, 0, !dbg !104
  br i1 %18, label %.lr.ph, label %._crit_edge, !dbg !105

.lr.ph:                                           ; preds = %5
  %.not = icmp eq i32 %6, 0
  %19 = getelementptr i8, ptr %17, i64 -4
  %20 = add nsw i32 %8, -1
  %21 = icmp samesign ult i32 %6, %20
  %22 = getelementptr inbounds nuw i8, ptr %17, i64 4
  %23 = getelementptr inbounds nuw i32, ptr addrspacecast (ptr addrspace(3) @now to ptr), i64 %16
  br label %25, !dbg !105

._crit_edge:                                      ; preds = %34, %5
  %24 = icmp slt i32 %10, %3, !dbg !106
  br i1 %24, label %43, label %47, !dbg !106

25:                                               ; preds = %.lr.ph, %34
  %.02731 = phi i32 [ 0, %.lr.ph ], [ %42, %34 ]
  %26 = load i32, ptr %17, align 4, !dbg !107, !tbaa !9
  br i1 %.not, label %30, label %27, !dbg !108

27:                                               ; preds = %25
  %28 = load i32, ptr %19, align 4, !dbg !109, !tbaa !9
  %29 = tail call noundef i32 @llvm.smin.i32(i32 %26, i32 %28), !dbg !110
  br label %30, !dbg !112

30:                                               ; preds = %27, %25
  %.0 = phi i32 [ %29, %27 ], [ %26, %25 ], !dbg !113
  br i1 %21, label %31, label %34, !dbg !114

31:                                               ; preds = %30
  %32 = load i32, ptr %22, align 4, !dbg !115, !tbaa !9
  %33 = tail call noundef i32 @llvm.smin.i32(i32 %.0, i32 %32), !dbg !116
  br label %34, !dbg !118

34:                                               ; preds = %31, %30
  %.1 = phi i32 [ %33, %31 ], [ %.0, %30 ], !dbg !113
  %35 = mul nsw i32 %.02731, %3, !dbg !119
  %36 = add nsw i32 %35, %12, !dbg !120
  %37 = sext i32 %36 to i64, !dbg !121
  %38 = getelementptr inbounds i32, ptr %0, i64 %37, !dbg !121
  %39 = load i32, ptr %38, align 4, !dbg !121, !tbaa !9
  %40 = add nsw i32 %39, %.1, !dbg !122
  store i32 %40, ptr %23, align 4, !dbg !123, !tbaa !9
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !124
  %41 = load i32, ptr %23, align 4, !dbg !126, !tbaa !9
  store i32 %41, ptr %17, align 4, !dbg !127, !tbaa !9
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !128
  %42 = add nuw nsw i32 %.02731, 1, !dbg !130
  %exitcond.not = icmp eq i32 %42, %4, !dbg !104
  br i1 %exitcond.not, label %._crit_edge, label %25, !dbg !105, !llvm.loop !131

43:                                               ; preds = %._crit_edge
  %44 = zext nneg i32 %10 to i64
  %45 = getelementptr inbounds nuw i32, ptr %2, i64 %44
  %46 = load i32, ptr %17, align 4, !dbg !134, !tbaa !9
  store i32 %46, ptr %45, align 4, !dbg !135, !tbaa !9
  br label %47, !dbg !136

47:                                               ; preds = %43, %._crit_edge
  ret void, !dbg !137
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.smin.i32(i32, i32) #3

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" "uniform-work-group-size"="true" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }

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
!7 = !DIFile(filename: "stencil.cu", directory: ".")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "heat", scope: !7, file: !7, line: 6, type: !14, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !DILocation(line: 9, column: 11, scope: !13)
!17 = !DILocation(line: 9, column: 45, scope: !13)
!18 = !DILocation(line: 14, column: 29, scope: !19, inlinedAt: !21)
!19 = distinct !DISubprogram(name: "block", scope: !20, file: !20, line: 14, type: !14, scopeLine: 14, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!20 = !DIFile(filename: "./device.h", directory: ".")
!21 = distinct !DILocation(line: 10, column: 16, scope: !13)
!22 = !DILocation(line: 10, column: 24, scope: !13)
!23 = !DILocation(line: 10, column: 31, scope: !13)
!24 = !DILocation(line: 10, column: 42, scope: !13)
!25 = !DILocation(line: 10, column: 73, scope: !13)
!26 = !DILocation(line: 10, column: 80, scope: !13)
!27 = !DILocation(line: 11, column: 24, scope: !13)
!28 = !DILocation(line: 11, column: 28, scope: !13)
!29 = !DILocation(line: 12, column: 7, scope: !13)
!30 = !DILocation(line: 12, column: 35, scope: !13)
!31 = !DILocation(line: 12, column: 39, scope: !13)
!32 = !DILocation(line: 12, column: 28, scope: !13)
!33 = !{!34, !34, i64 0}
!34 = !{!"float", !11, i64 0}
!35 = !DILocation(line: 12, column: 15, scope: !13)
!36 = !DILocation(line: 12, column: 26, scope: !13)
!37 = !DILocation(line: 17, column: 25, scope: !38, inlinedAt: !39)
!38 = distinct !DISubprogram(name: "barrier", scope: !20, file: !20, line: 17, type: !14, scopeLine: 17, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!39 = distinct !DILocation(line: 13, column: 3, scope: !13)
!40 = !DILocation(line: 15, column: 21, scope: !13)
!41 = !DILocation(line: 15, column: 3, scope: !13)
!42 = !DILocation(line: 17, column: 11, scope: !13)
!43 = !DILocation(line: 17, column: 15, scope: !13)
!44 = !DILocation(line: 17, column: 31, scope: !13)
!45 = !DILocation(line: 17, column: 20, scope: !13)
!46 = !DILocation(line: 17, column: 35, scope: !13)
!47 = !DILocation(line: 19, column: 22, scope: !13)
!48 = !DILocation(line: 20, column: 38, scope: !13)
!49 = !DILocation(line: 20, column: 79, scope: !13)
!50 = !DILocation(line: 20, column: 64, scope: !13)
!51 = !DILocation(line: 20, column: 62, scope: !13)
!52 = !DILocation(line: 21, column: 23, scope: !13)
!53 = !DILocation(line: 21, column: 40, scope: !13)
!54 = !DILocation(line: 21, column: 38, scope: !13)
!55 = !DILocation(line: 21, column: 62, scope: !13)
!56 = !DILocation(line: 21, column: 55, scope: !13)
!57 = !DILocation(line: 21, column: 20, scope: !13)
!58 = !DILocation(line: 22, column: 23, scope: !13)
!59 = !DILocation(line: 22, column: 40, scope: !13)
!60 = !DILocation(line: 22, column: 38, scope: !13)
!61 = !DILocation(line: 22, column: 55, scope: !13)
!62 = !DILocation(line: 22, column: 20, scope: !13)
!63 = !DILocation(line: 20, column: 35, scope: !13)
!64 = !DILocation(line: 20, column: 27, scope: !13)
!65 = !DILocation(line: 20, column: 18, scope: !13)
!66 = !DILocation(line: 23, column: 5, scope: !13)
!67 = !DILocation(line: 17, column: 25, scope: !38, inlinedAt: !68)
!68 = distinct !DILocation(line: 24, column: 5, scope: !13)
!69 = !DILocation(line: 25, column: 11, scope: !13)
!70 = !DILocation(line: 26, column: 9, scope: !13)
!71 = !DILocation(line: 26, column: 32, scope: !13)
!72 = !DILocation(line: 26, column: 30, scope: !13)
!73 = !DILocation(line: 26, column: 19, scope: !13)
!74 = !DILocation(line: 17, column: 25, scope: !38, inlinedAt: !75)
!75 = distinct !DILocation(line: 27, column: 5, scope: !13)
!76 = !DILocation(line: 15, column: 31, scope: !13)
!77 = !DILocation(line: 29, column: 7, scope: !13)
!78 = !DILocation(line: 29, column: 41, scope: !13)
!79 = !DILocation(line: 29, column: 17, scope: !13)
!80 = !DILocation(line: 29, column: 39, scope: !13)
!81 = !DILocation(line: 30, column: 1, scope: !13)
!82 = distinct !DISubprogram(name: "paths", scope: !7, file: !7, line: 32, type: !14, scopeLine: 32, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!83 = !DILocation(line: 13, column: 30, scope: !84, inlinedAt: !85)
!84 = distinct !DISubprogram(name: "thread", scope: !20, file: !20, line: 13, type: !14, scopeLine: 13, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!85 = distinct !DILocation(line: 35, column: 11, scope: !82)
!86 = !DILocation(line: 14, column: 29, scope: !19, inlinedAt: !87)
!87 = distinct !DILocation(line: 16, column: 32, scope: !88, inlinedAt: !89)
!88 = distinct !DISubprogram(name: "position", scope: !20, file: !20, line: 16, type: !14, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!89 = distinct !DILocation(line: 35, column: 30, scope: !82)
!90 = !DILocation(line: 15, column: 31, scope: !91, inlinedAt: !92)
!91 = distinct !DISubprogram(name: "threads", scope: !20, file: !20, line: 15, type: !14, scopeLine: 15, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!92 = distinct !DILocation(line: 16, column: 42, scope: !88, inlinedAt: !89)
!93 = !DILocation(line: 16, column: 40, scope: !88, inlinedAt: !89)
!94 = !DILocation(line: 16, column: 52, scope: !88, inlinedAt: !89)
!95 = !DILocation(line: 36, column: 40, scope: !82)
!96 = !DILocation(line: 21, column: 57, scope: !97, inlinedAt: !98)
!97 = distinct !DISubprogram(name: "least<int>", scope: !20, file: !20, line: 21, type: !14, scopeLine: 21, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!98 = distinct !DILocation(line: 36, column: 20, scope: !82)
!99 = !DILocation(line: 36, column: 13, scope: !82)
!100 = !DILocation(line: 36, column: 3, scope: !82)
!101 = !DILocation(line: 36, column: 11, scope: !82)
!102 = !DILocation(line: 17, column: 25, scope: !38, inlinedAt: !103)
!103 = distinct !DILocation(line: 37, column: 3, scope: !82)
!104 = !DILocation(line: 38, column: 21, scope: !82)
!105 = !DILocation(line: 38, column: 3, scope: !82)
!106 = !DILocation(line: 47, column: 14, scope: !82)
!107 = !DILocation(line: 39, column: 16, scope: !82)
!108 = !DILocation(line: 40, column: 11, scope: !82)
!109 = !DILocation(line: 40, column: 35, scope: !82)
!110 = !DILocation(line: 21, column: 57, scope: !97, inlinedAt: !111)
!111 = distinct !DILocation(line: 40, column: 23, scope: !82)
!112 = !DILocation(line: 40, column: 16, scope: !82)
!113 = !DILocation(line: 0, scope: !82)
!114 = !DILocation(line: 41, column: 11, scope: !82)
!115 = !DILocation(line: 41, column: 47, scope: !82)
!116 = !DILocation(line: 21, column: 57, scope: !97, inlinedAt: !117)
!117 = distinct !DILocation(line: 41, column: 35, scope: !82)
!118 = !DILocation(line: 41, column: 28, scope: !82)
!119 = !DILocation(line: 42, column: 28, scope: !82)
!120 = !DILocation(line: 42, column: 36, scope: !82)
!121 = !DILocation(line: 42, column: 21, scope: !82)
!122 = !DILocation(line: 42, column: 19, scope: !82)
!123 = !DILocation(line: 42, column: 12, scope: !82)
!124 = !DILocation(line: 17, column: 25, scope: !38, inlinedAt: !125)
!125 = distinct !DILocation(line: 43, column: 5, scope: !82)
!126 = !DILocation(line: 44, column: 15, scope: !82)
!127 = !DILocation(line: 44, column: 13, scope: !82)
!128 = !DILocation(line: 17, column: 25, scope: !38, inlinedAt: !129)
!129 = distinct !DILocation(line: 45, column: 5, scope: !82)
!130 = !DILocation(line: 38, column: 32, scope: !82)
!131 = distinct !{!131, !105, !132, !133}
!132 = !DILocation(line: 46, column: 3, scope: !82)
!133 = !{!"llvm.loop.mustprogress"}
!134 = !DILocation(line: 47, column: 39, scope: !82)
!135 = !DILocation(line: 47, column: 37, scope: !82)
!136 = !DILocation(line: 47, column: 23, scope: !82)
!137 = !DILocation(line: 48, column: 1, scope: !82)
