; ModuleID = 'inlining.cu'
source_filename = "inlining.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__kw_threadIdx_t = type { i8 }

$_ZN16__kw_threadIdx_t6read_xEv = comdat any

@threadIdx = extern_weak dso_local addrspace(1) global %struct.__kw_threadIdx_t, align 1

; Function Attrs: convergent mustprogress nounwind
define dso_local noundef float @_Z5blendffi(float noundef %x, float noundef %y, i32 noundef %n) #0 !dbg !13 {
entry:
  %x.addr = alloca float, align 4
  %y.addr = alloca float, align 4
  %n.addr = alloca i32, align 4
  %r = alloca float, align 4
  %i = alloca i32, align 4
  store float %x, ptr %x.addr, align 4, !tbaa !16
  store float %y, ptr %y.addr, align 4, !tbaa !16
  store i32 %n, ptr %n.addr, align 4, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %r) #5, !dbg !18
  %0 = load float, ptr %x.addr, align 4, !dbg !19, !tbaa !16
  store float %0, ptr %r, align 4, !dbg !20, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %i) #5, !dbg !21
  store i32 0, ptr %i, align 4, !dbg !22, !tbaa !9
  br label %for.cond, !dbg !21

for.cond:                                         ; preds = %for.inc, %entry
  %1 = load i32, ptr %i, align 4, !dbg !23, !tbaa !9
  %2 = load i32, ptr %n.addr, align 4, !dbg !24, !tbaa !9
  %cmp = icmp slt i32 %1, %2, !dbg !25
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !26

for.cond.cleanup:                                 ; preds = %for.cond
  call void @llvm.lifetime.end.p0(ptr %i) #5, !dbg !26
  br label %for.end

for.body:                                         ; preds = %for.cond
  %3 = load float, ptr %r, align 4, !dbg !27, !tbaa !16
  %4 = load float, ptr %y.addr, align 4, !dbg !28, !tbaa !16
  %mul = fmul contract float %3, %4, !dbg !29
  %5 = load float, ptr %x.addr, align 4, !dbg !30, !tbaa !16
  %6 = load float, ptr %y.addr, align 4, !dbg !31, !tbaa !16
  %7 = load float, ptr %r, align 4, !dbg !32, !tbaa !16
  %add = fadd contract float %6, %7, !dbg !33
  %div = fdiv contract float %5, %add, !dbg !34
  %add1 = fadd contract float %mul, %div, !dbg !35
  store float %add1, ptr %r, align 4, !dbg !36, !tbaa !16
  br label %for.inc, !dbg !37

for.inc:                                          ; preds = %for.body
  %8 = load i32, ptr %i, align 4, !dbg !38, !tbaa !9
  %inc = add nsw i32 %8, 1, !dbg !38
  store i32 %inc, ptr %i, align 4, !dbg !38, !tbaa !9
  br label %for.cond, !dbg !26, !llvm.loop !39

for.end:                                          ; preds = %for.cond.cleanup
  %9 = load float, ptr %r, align 4, !dbg !42, !tbaa !16
  call void @llvm.lifetime.end.p0(ptr %r) #5, !dbg !43
  ret float %9, !dbg !44
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z5applyPfi(ptr noundef %a, i32 noundef %n) #2 !dbg !45 {
entry:
  %a.addr = alloca ptr, align 8
  %n.addr = alloca i32, align 4
  %s = alloca float, align 4
  %i = alloca i32, align 4
  store ptr %a, ptr %a.addr, align 8, !tbaa !46
  store i32 %n, ptr %n.addr, align 4, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %s) #5, !dbg !49
  store float 0.000000e+00, ptr %s, align 4, !dbg !50, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %i) #5, !dbg !51
  store i32 0, ptr %i, align 4, !dbg !52, !tbaa !9
  br label %for.cond, !dbg !51

for.cond:                                         ; preds = %for.inc, %entry
  %0 = load i32, ptr %i, align 4, !dbg !53, !tbaa !9
  %cmp = icmp slt i32 %0, 8, !dbg !54
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !55

for.cond.cleanup:                                 ; preds = %for.cond
  call void @llvm.lifetime.end.p0(ptr %i) #5, !dbg !55
  br label %for.end

for.body:                                         ; preds = %for.cond
  %1 = load ptr, ptr %a.addr, align 8, !dbg !56, !tbaa !46
  %2 = load i32, ptr %i, align 4, !dbg !57, !tbaa !9
  %idxprom = sext i32 %2 to i64, !dbg !56
  %arrayidx = getelementptr inbounds float, ptr %1, i64 %idxprom, !dbg !56
  %3 = load float, ptr %arrayidx, align 4, !dbg !56, !tbaa !16
  %4 = load ptr, ptr %a.addr, align 8, !dbg !58, !tbaa !46
  %5 = load i32, ptr %i, align 4, !dbg !59, !tbaa !9
  %add = add nsw i32 %5, 1, !dbg !60
  %idxprom1 = sext i32 %add to i64, !dbg !58
  %arrayidx2 = getelementptr inbounds float, ptr %4, i64 %idxprom1, !dbg !58
  %6 = load float, ptr %arrayidx2, align 4, !dbg !58, !tbaa !16
  %7 = load i32, ptr %n.addr, align 4, !dbg !61, !tbaa !9
  %call = call contract noundef float @_Z5blendffi(float noundef %3, float noundef %6, i32 noundef %7) #6, !dbg !62
  %8 = load ptr, ptr %a.addr, align 8, !dbg !63, !tbaa !46
  %9 = load i32, ptr %i, align 4, !dbg !64, !tbaa !9
  %add3 = add nsw i32 %9, 1, !dbg !65
  %idxprom4 = sext i32 %add3 to i64, !dbg !63
  %arrayidx5 = getelementptr inbounds float, ptr %8, i64 %idxprom4, !dbg !63
  %10 = load float, ptr %arrayidx5, align 4, !dbg !63, !tbaa !16
  %11 = load ptr, ptr %a.addr, align 8, !dbg !66, !tbaa !46
  %12 = load i32, ptr %i, align 4, !dbg !67, !tbaa !9
  %idxprom6 = sext i32 %12 to i64, !dbg !66
  %arrayidx7 = getelementptr inbounds float, ptr %11, i64 %idxprom6, !dbg !66
  %13 = load float, ptr %arrayidx7, align 4, !dbg !66, !tbaa !16
  %14 = load i32, ptr %n.addr, align 4, !dbg !68, !tbaa !9
  %call8 = call contract noundef float @_Z5blendffi(float noundef %10, float noundef %13, i32 noundef %14) #6, !dbg !69
  %add9 = fadd contract float %call, %call8, !dbg !70
  %15 = load float, ptr %s, align 4, !dbg !71, !tbaa !16
  %add10 = fadd contract float %15, %add9, !dbg !71
  store float %add10, ptr %s, align 4, !dbg !71, !tbaa !16
  br label %for.inc, !dbg !72

for.inc:                                          ; preds = %for.body
  %16 = load i32, ptr %i, align 4, !dbg !73, !tbaa !9
  %inc = add nsw i32 %16, 1, !dbg !73
  store i32 %inc, ptr %i, align 4, !dbg !73, !tbaa !9
  br label %for.cond, !dbg !55, !llvm.loop !74

for.end:                                          ; preds = %for.cond.cleanup
  %17 = load float, ptr %s, align 4, !dbg !76, !tbaa !16
  %18 = load ptr, ptr %a.addr, align 8, !dbg !77, !tbaa !46
  %call11 = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #6, !dbg !78
  %idxprom12 = zext i32 %call11 to i64, !dbg !77
  %arrayidx13 = getelementptr inbounds nuw float, ptr %18, i64 %idxprom12, !dbg !77
  store float %17, ptr %arrayidx13, align 4, !dbg !79, !tbaa !16
  call void @llvm.lifetime.end.p0(ptr %s) #5, !dbg !80
  ret void, !dbg !80
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #3 comdat align 2 {
entry:
  %0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %0
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #4

attributes #0 = { convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #3 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { nounwind }
attributes #6 = { convergent nounwind }

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
!7 = !DIFile(filename: "inlining.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "blend", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"float", !11, i64 0}
!18 = !DILocation(line: 3, column: 3, scope: !13)
!19 = !DILocation(line: 3, column: 13, scope: !13)
!20 = !DILocation(line: 3, column: 9, scope: !13)
!21 = !DILocation(line: 4, column: 8, scope: !13)
!22 = !DILocation(line: 4, column: 12, scope: !13)
!23 = !DILocation(line: 4, column: 19, scope: !13)
!24 = !DILocation(line: 4, column: 23, scope: !13)
!25 = !DILocation(line: 4, column: 21, scope: !13)
!26 = !DILocation(line: 4, column: 3, scope: !13)
!27 = !DILocation(line: 4, column: 35, scope: !13)
!28 = !DILocation(line: 4, column: 39, scope: !13)
!29 = !DILocation(line: 4, column: 37, scope: !13)
!30 = !DILocation(line: 4, column: 43, scope: !13)
!31 = !DILocation(line: 4, column: 48, scope: !13)
!32 = !DILocation(line: 4, column: 52, scope: !13)
!33 = !DILocation(line: 4, column: 50, scope: !13)
!34 = !DILocation(line: 4, column: 45, scope: !13)
!35 = !DILocation(line: 4, column: 41, scope: !13)
!36 = !DILocation(line: 4, column: 33, scope: !13)
!37 = !DILocation(line: 4, column: 31, scope: !13)
!38 = !DILocation(line: 4, column: 26, scope: !13)
!39 = distinct !{!39, !26, !40, !41}
!40 = !DILocation(line: 4, column: 53, scope: !13)
!41 = !{!"llvm.loop.mustprogress"}
!42 = !DILocation(line: 5, column: 10, scope: !13)
!43 = !DILocation(line: 6, column: 1, scope: !13)
!44 = !DILocation(line: 5, column: 3, scope: !13)
!45 = distinct !DISubprogram(name: "apply", scope: !7, file: !7, line: 7, type: !14, scopeLine: 7, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!46 = !{!47, !47, i64 0}
!47 = !{!"p1 float", !48, i64 0}
!48 = !{!"any pointer", !11, i64 0}
!49 = !DILocation(line: 8, column: 3, scope: !45)
!50 = !DILocation(line: 8, column: 9, scope: !45)
!51 = !DILocation(line: 9, column: 8, scope: !45)
!52 = !DILocation(line: 9, column: 12, scope: !45)
!53 = !DILocation(line: 9, column: 19, scope: !45)
!54 = !DILocation(line: 9, column: 21, scope: !45)
!55 = !DILocation(line: 9, column: 3, scope: !45)
!56 = !DILocation(line: 9, column: 42, scope: !45)
!57 = !DILocation(line: 9, column: 44, scope: !45)
!58 = !DILocation(line: 9, column: 48, scope: !45)
!59 = !DILocation(line: 9, column: 50, scope: !45)
!60 = !DILocation(line: 9, column: 52, scope: !45)
!61 = !DILocation(line: 9, column: 58, scope: !45)
!62 = !DILocation(line: 9, column: 36, scope: !45)
!63 = !DILocation(line: 9, column: 69, scope: !45)
!64 = !DILocation(line: 9, column: 71, scope: !45)
!65 = !DILocation(line: 9, column: 73, scope: !45)
!66 = !DILocation(line: 9, column: 79, scope: !45)
!67 = !DILocation(line: 9, column: 81, scope: !45)
!68 = !DILocation(line: 9, column: 85, scope: !45)
!69 = !DILocation(line: 9, column: 63, scope: !45)
!70 = !DILocation(line: 9, column: 61, scope: !45)
!71 = !DILocation(line: 9, column: 33, scope: !45)
!72 = !DILocation(line: 9, column: 31, scope: !45)
!73 = !DILocation(line: 9, column: 26, scope: !45)
!74 = distinct !{!74, !55, !75, !41}
!75 = !DILocation(line: 9, column: 86, scope: !45)
!76 = !DILocation(line: 10, column: 20, scope: !45)
!77 = !DILocation(line: 10, column: 3, scope: !45)
!78 = !DILocation(line: 10, column: 5, scope: !45)
!79 = !DILocation(line: 10, column: 18, scope: !45)
!80 = !DILocation(line: 11, column: 1, scope: !45)
