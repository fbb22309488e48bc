; ModuleID = 'spaces.cu'
source_filename = "spaces.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__kw_threadIdx_t = type { i8 }

$_ZN16__kw_threadIdx_t6read_xEv = comdat any

@threadIdx = extern_weak dso_local addrspace(1) global %struct.__kw_threadIdx_t, align 1
@tile = external dso_local addrspace(3) global [0 x float], align 4

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z5reusePf(ptr noundef %g) #0 !dbg !13 {
entry:
  %g.addr = alloca ptr, align 8
  %i = alloca i32, align 4
  %first = alloca float, align 4
  %second = alloca float, align 4
  store ptr %g, ptr %g.addr, align 8, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %i) #4, !dbg !19
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #5, !dbg !20
  store i32 %call, ptr %i, align 4, !dbg !21, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %first) #4, !dbg !22
  %0 = load i32, ptr %i, align 4, !dbg !23, !tbaa !9
  %idxprom = sext i32 %0 to i64, !dbg !24
  %arrayidx = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 0, i64 %idxprom, !dbg !24
  %1 = load float, ptr %arrayidx, align 4, !dbg !24, !tbaa !25
  store float %1, ptr %first, align 4, !dbg !27, !tbaa !25
  %2 = load ptr, ptr %g.addr, align 8, !dbg !28, !tbaa !16
  %3 = load i32, ptr %i, align 4, !dbg !29, !tbaa !9
  %idxprom1 = sext i32 %3 to i64, !dbg !28
  %arrayidx2 = getelementptr inbounds float, ptr %2, i64 %idxprom1, !dbg !28
  store float 1.000000e+00, ptr %arrayidx2, align 4, !dbg !30, !tbaa !25
  call void @llvm.lifetime.start.p0(ptr %second) #4, !dbg !31
  %4 = load i32, ptr %i, align 4, !dbg !32, !tbaa !9
  %idxprom3 = sext i32 %4 to i64, !dbg !33
  %arrayidx4 = getelementptr inbounds [0 x float], ptr addrspacecast (ptr addrspace(3) @tile to ptr), i64 0, i64 %idxprom3, !dbg !33
  %5 = load float, ptr %arrayidx4, align 4, !dbg !33, !tbaa !25
  store float %5, ptr %second, align 4, !dbg !34, !tbaa !25
  %6 = load float, ptr %first, align 4, !dbg !35, !tbaa !25
  %7 = load float, ptr %second, align 4, !dbg !36, !tbaa !25
  %add = fadd contract float %6, %7, !dbg !37
  %8 = load ptr, ptr %g.addr, align 8, !dbg !38, !tbaa !16
  %9 = load i32, ptr %i, align 4, !dbg !39, !tbaa !9
  %add5 = add nsw i32 %9, 32, !dbg !40
  %idxprom6 = sext i32 %add5 to i64, !dbg !38
  %arrayidx7 = getelementptr inbounds float, ptr %8, i64 %idxprom6, !dbg !38
  store float %add, ptr %arrayidx7, align 4, !dbg !41, !tbaa !25
  call void @llvm.lifetime.end.p0(ptr %second) #4, !dbg !42
  call void @llvm.lifetime.end.p0(ptr %first) #4, !dbg !42
  call void @llvm.lifetime.end.p0(ptr %i) #4, !dbg !42
  ret void, !dbg !42
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #2 comdat align 2 {
entry:
  %0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %0
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z7overlapPfS_(ptr noundef %g, ptr noundef %h) #0 !dbg !43 {
entry:
  %g.addr = alloca ptr, align 8
  %h.addr = alloca ptr, align 8
  %i = alloca i32, align 4
  %first = alloca float, align 4
  %second = alloca float, align 4
  store ptr %g, ptr %g.addr, align 8, !tbaa !16
  store ptr %h, ptr %h.addr, align 8, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %i) #4, !dbg !44
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #5, !dbg !45
  store i32 %call, ptr %i, align 4, !dbg !46, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %first) #4, !dbg !47
  %0 = load ptr, ptr %h.addr, align 8, !dbg !48, !tbaa !16
  %1 = load i32, ptr %i, align 4, !dbg !49, !tbaa !9
  %idxprom = sext i32 %1 to i64, !dbg !48
  %arrayidx = getelementptr inbounds float, ptr %0, i64 %idxprom, !dbg !48
  %2 = load float, ptr %arrayidx, align 4, !dbg !48, !tbaa !25
  store float %2, ptr %first, align 4, !dbg !50, !tbaa !25
  %3 = load ptr, ptr %g.addr, align 8, !dbg !51, !tbaa !16
  %4 = load i32, ptr %i, align 4, !dbg !52, !tbaa !9
  %idxprom1 = sext i32 %4 to i64, !dbg !51
  %arrayidx2 = getelementptr inbounds float, ptr %3, i64 %idxprom1, !dbg !51
  store float 1.000000e+00, ptr %arrayidx2, align 4, !dbg !53, !tbaa !25
  call void @llvm.lifetime.start.p0(ptr %second) #4, !dbg !54
  %5 = load ptr, ptr %h.addr, align 8, !dbg !55, !tbaa !16
  %6 = load i32, ptr %i, align 4, !dbg !56, !tbaa !9
  %idxprom3 = sext i32 %6 to i64, !dbg !55
  %arrayidx4 = getelementptr inbounds float, ptr %5, i64 %idxprom3, !dbg !55
  %7 = load float, ptr %arrayidx4, align 4, !dbg !55, !tbaa !25
  store float %7, ptr %second, align 4, !dbg !57, !tbaa !25
  %8 = load float, ptr %first, align 4, !dbg !58, !tbaa !25
  %9 = load float, ptr %second, align 4, !dbg !59, !tbaa !25
  %add = fadd contract float %8, %9, !dbg !60
  %10 = load ptr, ptr %g.addr, align 8, !dbg !61, !tbaa !16
  %11 = load i32, ptr %i, align 4, !dbg !62, !tbaa !9
  %add5 = add nsw i32 %11, 32, !dbg !63
  %idxprom6 = sext i32 %add5 to i64, !dbg !61
  %arrayidx7 = getelementptr inbounds float, ptr %10, i64 %idxprom6, !dbg !61
  store float %add, ptr %arrayidx7, align 4, !dbg !64, !tbaa !25
  call void @llvm.lifetime.end.p0(ptr %second) #4, !dbg !65
  call void @llvm.lifetime.end.p0(ptr %first) #4, !dbg !65
  call void @llvm.lifetime.end.p0(ptr %i) #4, !dbg !65
  ret void, !dbg !65
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #3

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #3 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #4 = { nounwind }
attributes #5 = { convergent nounwind }

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
!7 = !DIFile(filename: "spaces.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "reuse", scope: !7, file: !7, line: 3, type: !14, scopeLine: 3, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 float", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !DILocation(line: 4, column: 3, scope: !13)
!20 = !DILocation(line: 4, column: 11, scope: !13)
!21 = !DILocation(line: 4, column: 7, scope: !13)
!22 = !DILocation(line: 5, column: 3, scope: !13)
!23 = !DILocation(line: 5, column: 22, scope: !13)
!24 = !DILocation(line: 5, column: 17, scope: !13)
!25 = !{!26, !26, i64 0}
!26 = !{!"float", !11, i64 0}
!27 = !DILocation(line: 5, column: 9, scope: !13)
!28 = !DILocation(line: 6, column: 3, scope: !13)
!29 = !DILocation(line: 6, column: 5, scope: !13)
!30 = !DILocation(line: 6, column: 8, scope: !13)
!31 = !DILocation(line: 7, column: 3, scope: !13)
!32 = !DILocation(line: 7, column: 23, scope: !13)
!33 = !DILocation(line: 7, column: 18, scope: !13)
!34 = !DILocation(line: 7, column: 9, scope: !13)
!35 = !DILocation(line: 8, column: 15, scope: !13)
!36 = !DILocation(line: 8, column: 23, scope: !13)
!37 = !DILocation(line: 8, column: 21, scope: !13)
!38 = !DILocation(line: 8, column: 3, scope: !13)
!39 = !DILocation(line: 8, column: 5, scope: !13)
!40 = !DILocation(line: 8, column: 7, scope: !13)
!41 = !DILocation(line: 8, column: 13, scope: !13)
!42 = !DILocation(line: 9, column: 1, scope: !13)
!43 = distinct !DISubprogram(name: "overlap", scope: !7, file: !7, line: 12, type: !14, scopeLine: 12, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!44 = !DILocation(line: 13, column: 3, scope: !43)
!45 = !DILocation(line: 13, column: 11, scope: !43)
!46 = !DILocation(line: 13, column: 7, scope: !43)
!47 = !DILocation(line: 14, column: 3, scope: !43)
!48 = !DILocation(line: 14, column: 17, scope: !43)
!49 = !DILocation(line: 14, column: 19, scope: !43)
!50 = !DILocation(line: 14, column: 9, scope: !43)
!51 = !DILocation(line: 15, column: 3, scope: !43)
!52 = !DILocation(line: 15, column: 5, scope: !43)
!53 = !DILocation(line: 15, column: 8, scope: !43)
!54 = !DILocation(line: 16, column: 3, scope: !43)
!55 = !DILocation(line: 16, column: 18, scope: !43)
!56 = !DILocation(line: 16, column: 20, scope: !43)
!57 = !DILocation(line: 16, column: 9, scope: !43)
!58 = !DILocation(line: 17, column: 15, scope: !43)
!59 = !DILocation(line: 17, column: 23, scope: !43)
!60 = !DILocation(line: 17, column: 21, scope: !43)
!61 = !DILocation(line: 17, column: 3, scope: !43)
!62 = !DILocation(line: 17, column: 5, scope: !43)
!63 = !DILocation(line: 17, column: 7, scope: !43)
!64 = !DILocation(line: 17, column: 13, scope: !43)
!65 = !DILocation(line: 18, column: 1, scope: !43)
