; ModuleID = 'division.cu'
source_filename = "division.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__kw_threadIdx_t = type { i8 }

$_ZN16__kw_threadIdx_t6read_xEv = comdat any

@threadIdx = extern_weak dso_local addrspace(1) global %struct.__kw_threadIdx_t, align 1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z8quotientPlll(ptr noundef %out, i64 noundef %a, i64 noundef %b) #0 !dbg !13 {
entry:
  %out.addr = alloca ptr, align 8
  %a.addr = alloca i64, align 8
  %b.addr = alloca i64, align 8
  store ptr %out, ptr %out.addr, align 8, !tbaa !16
  store i64 %a, ptr %a.addr, align 8, !tbaa !19
  store i64 %b, ptr %b.addr, align 8, !tbaa !19
  %0 = load i64, ptr %a.addr, align 8, !dbg !21, !tbaa !19
  %1 = load i64, ptr %b.addr, align 8, !dbg !22, !tbaa !19
  %div = sdiv i64 %0, %1, !dbg !23
  %2 = load ptr, ptr %out.addr, align 8, !dbg !24, !tbaa !16
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #3, !dbg !25
  %idxprom = zext i32 %call to i64, !dbg !24
  %arrayidx = getelementptr inbounds nuw i64, ptr %2, i64 %idxprom, !dbg !24
  store i64 %div, ptr %arrayidx, align 8, !dbg !26, !tbaa !19
  ret void, !dbg !27
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #1 comdat align 2 {
entry:
  %0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %0
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { convergent nounwind }

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
!7 = !DIFile(filename: "division.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "quotient", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 long", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !{!20, !20, i64 0}
!20 = !{!"long", !11, i64 0}
!21 = !DILocation(line: 2, column: 74, scope: !13)
!22 = !DILocation(line: 2, column: 78, scope: !13)
!23 = !DILocation(line: 2, column: 76, scope: !13)
!24 = !DILocation(line: 2, column: 55, scope: !13)
!25 = !DILocation(line: 2, column: 59, scope: !13)
!26 = !DILocation(line: 2, column: 72, scope: !13)
!27 = !DILocation(line: 2, column: 81, scope: !13)
