; ModuleID = 'figure7.cu'
source_filename = "figure7.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4pickPKfPfllbb(ptr noundef %a, ptr noundef %out, i64 noundef %i, i64 noundef %j, i1 noundef zeroext %b, i1 noundef zeroext %c) #0 !dbg !13 {
entry:
  %a.addr = alloca ptr, align 8
  %out.addr = alloca ptr, align 8
  %i.addr = alloca i64, align 8
  %j.addr = alloca i64, align 8
  %b.addr = alloca i8, align 1
  %c.addr = alloca i8, align 1
  %u = alloca float, align 4
  %v = alloca float, align 4
  store ptr %a, ptr %a.addr, align 8, !tbaa !16
  store ptr %out, ptr %out.addr, align 8, !tbaa !16
  store i64 %i, ptr %i.addr, align 8, !tbaa !19
  store i64 %j, ptr %j.addr, align 8, !tbaa !19
  %storedv = zext i1 %b to i8
  store i8 %storedv, ptr %b.addr, align 1, !tbaa !21
  %storedv1 = zext i1 %c to i8
  store i8 %storedv1, ptr %c.addr, align 1, !tbaa !21
  call void @llvm.lifetime.start.p0(ptr %u) #2, !dbg !23
  store float 0.000000e+00, ptr %u, align 4, !dbg !24, !tbaa !25
  call void @llvm.lifetime.start.p0(ptr %v) #2, !dbg !23
  store float 0.000000e+00, ptr %v, align 4, !dbg !27, !tbaa !25
  %0 = load i8, ptr %b.addr, align 1, !dbg !28, !tbaa !21, !range !29, !noundef !15
  %loadedv = trunc i8 %0 to i1, !dbg !28
  br i1 %loadedv, label %if.then, label %if.end, !dbg !28

if.then:                                          ; preds = %entry
  %1 = load ptr, ptr %a.addr, align 8, !dbg !30, !tbaa !16
  %2 = load i64, ptr %i.addr, align 8, !dbg !31, !tbaa !19
  %arrayidx = getelementptr inbounds float, ptr %1, i64 %2, !dbg !30
  %3 = load float, ptr %arrayidx, align 4, !dbg !30, !tbaa !25
  store float %3, ptr %u, align 4, !dbg !32, !tbaa !25
  br label %if.end, !dbg !33

if.end:                                           ; preds = %if.then, %entry
  %4 = load i8, ptr %c.addr, align 1, !dbg !34, !tbaa !21, !range !29, !noundef !15
  %loadedv2 = trunc i8 %4 to i1, !dbg !34
  br i1 %loadedv2, label %if.then3, label %if.end5, !dbg !34

if.then3:                                         ; preds = %if.end
  %5 = load ptr, ptr %a.addr, align 8, !dbg !35, !tbaa !16
  %6 = load i64, ptr %i.addr, align 8, !dbg !36, !tbaa !19
  %7 = load i64, ptr %j.addr, align 8, !dbg !37, !tbaa !19
  %add = add nsw i64 %6, %7, !dbg !38
  %arrayidx4 = getelementptr inbounds float, ptr %5, i64 %add, !dbg !35
  %8 = load float, ptr %arrayidx4, align 4, !dbg !35, !tbaa !25
  store float %8, ptr %v, align 4, !dbg !39, !tbaa !25
  br label %if.end5, !dbg !40

if.end5:                                          ; preds = %if.then3, %if.end
  %9 = load float, ptr %u, align 4, !dbg !41, !tbaa !25
  %10 = load float, ptr %v, align 4, !dbg !42, !tbaa !25
  %add6 = fadd contract float %9, %10, !dbg !43
  %11 = load ptr, ptr %out.addr, align 8, !dbg !44, !tbaa !16
  store float %add6, ptr %11, align 4, !dbg !45, !tbaa !25
  call void @llvm.lifetime.end.p0(ptr %v) #2, !dbg !46
  call void @llvm.lifetime.end.p0(ptr %u) #2, !dbg !46
  ret void, !dbg !46
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nounwind }

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
!7 = !DIFile(filename: "figure7.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "pick", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 float", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !{!20, !20, i64 0}
!20 = !{!"long", !11, i64 0}
!21 = !{!22, !22, i64 0}
!22 = !{!"bool", !11, i64 0}
!23 = !DILocation(line: 3, column: 3, scope: !13)
!24 = !DILocation(line: 3, column: 9, scope: !13)
!25 = !{!26, !26, i64 0}
!26 = !{!"float", !11, i64 0}
!27 = !DILocation(line: 3, column: 19, scope: !13)
!28 = !DILocation(line: 4, column: 7, scope: !13)
!29 = !{i8 0, i8 2}
!30 = !DILocation(line: 4, column: 14, scope: !13)
!31 = !DILocation(line: 4, column: 16, scope: !13)
!32 = !DILocation(line: 4, column: 12, scope: !13)
!33 = !DILocation(line: 4, column: 10, scope: !13)
!34 = !DILocation(line: 5, column: 7, scope: !13)
!35 = !DILocation(line: 5, column: 14, scope: !13)
!36 = !DILocation(line: 5, column: 16, scope: !13)
!37 = !DILocation(line: 5, column: 20, scope: !13)
!38 = !DILocation(line: 5, column: 18, scope: !13)
!39 = !DILocation(line: 5, column: 12, scope: !13)
!40 = !DILocation(line: 5, column: 10, scope: !13)
!41 = !DILocation(line: 6, column: 10, scope: !13)
!42 = !DILocation(line: 6, column: 14, scope: !13)
!43 = !DILocation(line: 6, column: 12, scope: !13)
!44 = !DILocation(line: 6, column: 4, scope: !13)
!45 = !DILocation(line: 6, column: 8, scope: !13)
!46 = !DILocation(line: 7, column: 1, scope: !13)
