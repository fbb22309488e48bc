; ModuleID = 'figure6.cu'
source_filename = "figure6.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z6windowPKfPflll(ptr noundef %a, ptr noundef %out, i64 noundef %b, i64 noundef %c, i64 noundef %n) #0 !dbg !13 {
entry:
  %a.addr = alloca ptr, align 8
  %out.addr = alloca ptr, align 8
  %b.addr = alloca i64, align 8
  %c.addr = alloca i64, align 8
  %n.addr = alloca i64, align 8
  %sum = alloca float, align 4
  %x = alloca i64, align 8
  %cleanup.dest.slot = alloca i32, align 4
  %y = alloca i64, align 8
  %p = alloca ptr, align 8
  store ptr %a, ptr %a.addr, align 8, !tbaa !16
  store ptr %out, ptr %out.addr, align 8, !tbaa !16
  store i64 %b, ptr %b.addr, align 8, !tbaa !19
  store i64 %c, ptr %c.addr, align 8, !tbaa !19
  store i64 %n, ptr %n.addr, align 8, !tbaa !19
  call void @llvm.lifetime.start.p0(ptr %sum) #2, !dbg !21
  store float 0.000000e+00, ptr %sum, align 4, !dbg !22, !tbaa !23
  call void @llvm.lifetime.start.p0(ptr %x) #2, !dbg !25
  store i64 0, ptr %x, align 8, !dbg !26, !tbaa !19
  br label %for.cond, !dbg !25

for.cond:                                         ; preds = %for.inc8, %entry
  %0 = load i64, ptr %x, align 8, !dbg !27, !tbaa !19
  %cmp = icmp slt i64 %0, 3, !dbg !28
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !29

for.cond.cleanup:                                 ; preds = %for.cond
  store i32 2, ptr %cleanup.dest.slot, align 4
  call void @llvm.lifetime.end.p0(ptr %x) #2, !dbg !29
  br label %for.end10

for.body:                                         ; preds = %for.cond
  call void @llvm.lifetime.start.p0(ptr %y) #2, !dbg !30
  store i64 0, ptr %y, align 8, !dbg !31, !tbaa !19
  br label %for.cond1, !dbg !30

for.cond1:                                        ; preds = %for.inc, %for.body
  %1 = load i64, ptr %y, align 8, !dbg !32, !tbaa !19
  %cmp2 = icmp slt i64 %1, 3, !dbg !33
  br i1 %cmp2, label %for.body4, label %for.cond.cleanup3, !dbg !34

for.cond.cleanup3:                                ; preds = %for.cond1
  store i32 5, ptr %cleanup.dest.slot, align 4
  call void @llvm.lifetime.end.p0(ptr %y) #2, !dbg !34
  br label %for.end

for.body4:                                        ; preds = %for.cond1
  call void @llvm.lifetime.start.p0(ptr %p) #2, !dbg !35
  %2 = load ptr, ptr %a.addr, align 8, !dbg !36, !tbaa !16
  %3 = load i64, ptr %c.addr, align 8, !dbg !37, !tbaa !19
  %4 = load i64, ptr %y, align 8, !dbg !38, !tbaa !19
  %add = add nsw i64 %3, %4, !dbg !39
  %5 = load i64, ptr %b.addr, align 8, !dbg !40, !tbaa !19
  %6 = load i64, ptr %x, align 8, !dbg !41, !tbaa !19
  %add5 = add nsw i64 %5, %6, !dbg !42
  %7 = load i64, ptr %n.addr, align 8, !dbg !43, !tbaa !19
  %mul = mul nsw i64 %add5, %7, !dbg !44
  %add6 = add nsw i64 %add, %mul, !dbg !45
  %arrayidx = getelementptr inbounds float, ptr %2, i64 %add6, !dbg !36
  store ptr %arrayidx, ptr %p, align 8, !dbg !46, !tbaa !16
  %8 = load ptr, ptr %p, align 8, !dbg !47, !tbaa !16
  %9 = load float, ptr %8, align 4, !dbg !48, !tbaa !23
  %10 = load float, ptr %sum, align 4, !dbg !49, !tbaa !23
  %add7 = fadd contract float %10, %9, !dbg !49
  store float %add7, ptr %sum, align 4, !dbg !49, !tbaa !23
  call void @llvm.lifetime.end.p0(ptr %p) #2, !dbg !50
  br label %for.inc, !dbg !50

for.inc:                                          ; preds = %for.body4
  %11 = load i64, ptr %y, align 8, !dbg !51, !tbaa !19
  %inc = add nsw i64 %11, 1, !dbg !51
  store i64 %inc, ptr %y, align 8, !dbg !51, !tbaa !19
  br label %for.cond1, !dbg !34, !llvm.loop !52

for.end:                                          ; preds = %for.cond.cleanup3
  br label %for.inc8, !dbg !55

for.inc8:                                         ; preds = %for.end
  %12 = load i64, ptr %x, align 8, !dbg !56, !tbaa !19
  %inc9 = add nsw i64 %12, 1, !dbg !56
  store i64 %inc9, ptr %x, align 8, !dbg !56, !tbaa !19
  br label %for.cond, !dbg !29, !llvm.loop !57

for.end10:                                        ; preds = %for.cond.cleanup
  %13 = load float, ptr %sum, align 4, !dbg !58, !tbaa !23
  %14 = load ptr, ptr %out.addr, align 8, !dbg !59, !tbaa !16
  store float %13, ptr %14, align 4, !dbg !60, !tbaa !23
  call void @llvm.lifetime.end.p0(ptr %sum) #2, !dbg !61
  ret void, !dbg !61
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
!7 = !DIFile(filename: "figure6.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "window", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 float", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !{!20, !20, i64 0}
!20 = !{!"long", !11, i64 0}
!21 = !DILocation(line: 3, column: 3, scope: !13)
!22 = !DILocation(line: 3, column: 9, scope: !13)
!23 = !{!24, !24, i64 0}
!24 = !{!"float", !11, i64 0}
!25 = !DILocation(line: 5, column: 8, scope: !13)
!26 = !DILocation(line: 5, column: 13, scope: !13)
!27 = !DILocation(line: 5, column: 20, scope: !13)
!28 = !DILocation(line: 5, column: 22, scope: !13)
!29 = !DILocation(line: 5, column: 3, scope: !13)
!30 = !DILocation(line: 7, column: 10, scope: !13)
!31 = !DILocation(line: 7, column: 15, scope: !13)
!32 = !DILocation(line: 7, column: 22, scope: !13)
!33 = !DILocation(line: 7, column: 24, scope: !13)
!34 = !DILocation(line: 7, column: 5, scope: !13)
!35 = !DILocation(line: 8, column: 7, scope: !13)
!36 = !DILocation(line: 8, column: 25, scope: !13)
!37 = !DILocation(line: 8, column: 28, scope: !13)
!38 = !DILocation(line: 8, column: 32, scope: !13)
!39 = !DILocation(line: 8, column: 30, scope: !13)
!40 = !DILocation(line: 8, column: 38, scope: !13)
!41 = !DILocation(line: 8, column: 42, scope: !13)
!42 = !DILocation(line: 8, column: 40, scope: !13)
!43 = !DILocation(line: 8, column: 47, scope: !13)
!44 = !DILocation(line: 8, column: 45, scope: !13)
!45 = !DILocation(line: 8, column: 35, scope: !13)
!46 = !DILocation(line: 8, column: 20, scope: !13)
!47 = !DILocation(line: 9, column: 15, scope: !13)
!48 = !DILocation(line: 9, column: 14, scope: !13)
!49 = !DILocation(line: 9, column: 11, scope: !13)
!50 = !DILocation(line: 10, column: 5, scope: !13)
!51 = !DILocation(line: 7, column: 29, scope: !13)
!52 = distinct !{!52, !34, !50, !53, !54}
!53 = !{!"llvm.loop.mustprogress"}
!54 = !{!"llvm.loop.unroll.enable"}
!55 = !DILocation(line: 11, column: 3, scope: !13)
!56 = !DILocation(line: 5, column: 27, scope: !13)
!57 = distinct !{!57, !29, !55, !53, !54}
!58 = !DILocation(line: 12, column: 10, scope: !13)
!59 = !DILocation(line: 12, column: 4, scope: !13)
!60 = !DILocation(line: 12, column: 8, scope: !13)
!61 = !DILocation(line: 13, column: 1, scope: !13)
