; ModuleID = 'calls.cu'
source_filename = "calls.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__kw_threadIdx_t = type { i8 }

$_ZN16__kw_threadIdx_t6read_xEv = comdat any

@threadIdx = extern_weak dso_local addrspace(1) global %struct.__kw_threadIdx_t, align 1

; Function Attrs: convergent mustprogress noinline nounwind
define dso_local noundef i32 @_Z6helperi(i32 noundef %x) #0 !dbg !13 {
entry:
  %x.addr = alloca i32, align 4
  store i32 %x, ptr %x.addr, align 4, !tbaa !9
  %0 = load i32, ptr %x.addr, align 4, !dbg !16, !tbaa !9
  %1 = load i32, ptr %x.addr, align 4, !dbg !17, !tbaa !9
  %mul = mul nsw i32 %0, %1, !dbg !18
  %add = add nsw i32 %mul, 3, !dbg !19
  ret i32 %add, !dbg !20
}

; Function Attrs: convergent mustprogress noinline nounwind
define dso_local noundef float @_Z9factoriali(i32 noundef %n) #0 !dbg !21 {
entry:
  %n.addr = alloca i32, align 4
  store i32 %n, ptr %n.addr, align 4, !tbaa !9
  %0 = load i32, ptr %n.addr, align 4, !dbg !22, !tbaa !9
  %cmp = icmp slt i32 %0, 2, !dbg !23
  br i1 %cmp, label %cond.true, label %cond.false, !dbg !22

cond.true:                                        ; preds = %entry
  br label %cond.end, !dbg !22

cond.false:                                       ; preds = %entry
  %1 = load i32, ptr %n.addr, align 4, !dbg !24, !tbaa !9
  %conv = sitofp i32 %1 to float, !dbg !24
  %2 = load i32, ptr %n.addr, align 4, !dbg !25, !tbaa !9
  %sub = sub nsw i32 %2, 1, !dbg !26
  %call = call contract noundef float @_Z9factoriali(i32 noundef %sub) #6, !dbg !27
  %mul = fmul contract float %conv, %call, !dbg !28
  br label %cond.end, !dbg !22

cond.end:                                         ; preds = %cond.false, %cond.true
  %cond = phi contract float [ 1.000000e+00, %cond.true ], [ %mul, %cond.false ], !dbg !22
  ret float %cond, !dbg !29
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z5callsPiPfi(ptr noundef %o, ptr noundef %f, i32 noundef %n) #1 !dbg !30 {
entry:
  %o.addr = alloca ptr, align 8
  %f.addr = alloca ptr, align 8
  %n.addr = alloca i32, align 4
  %i = alloca i32, align 4
  %mask = alloca i32, align 4
  store ptr %o, ptr %o.addr, align 8, !tbaa !31
  store ptr %f, ptr %f.addr, align 8, !tbaa !34
  store i32 %n, ptr %n.addr, align 4, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %i) #7, !dbg !36
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #6, !dbg !37
  store i32 %call, ptr %i, align 4, !dbg !38, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %mask) #7, !dbg !39
  %0 = load i32, ptr %n.addr, align 4, !dbg !40, !tbaa !9
  %1 = call i32 asm sideeffect "{\0A\09.reg .pred p;\0A\09setp.ne.u32 p, $1, 0;\0A\09vote.sync.ballot.b32 $0, p, 0xffffffff;\0A\09}", "=r,r"(i32 %0) #6, !dbg !41, !srcloc !42
  store i32 %1, ptr %mask, align 4, !dbg !41, !tbaa !9
  %2 = load i32, ptr %n.addr, align 4, !dbg !43, !tbaa !9
  %cmp = icmp sgt i32 %2, 5, !dbg !44
  br i1 %cmp, label %if.then, label %if.else, !dbg !44

if.then:                                          ; preds = %entry
  %3 = load i32, ptr %i, align 4, !dbg !45, !tbaa !9
  %call1 = call noundef i32 @_Z6helperi(i32 noundef %3) #6, !dbg !46
  %4 = load i32, ptr %mask, align 4, !dbg !47, !tbaa !9
  %add = add i32 %call1, %4, !dbg !48
  %5 = load ptr, ptr %o.addr, align 8, !dbg !49, !tbaa !31
  %6 = load i32, ptr %i, align 4, !dbg !50, !tbaa !9
  %idxprom = sext i32 %6 to i64, !dbg !49
  %arrayidx = getelementptr inbounds i32, ptr %5, i64 %idxprom, !dbg !49
  store i32 %add, ptr %arrayidx, align 4, !dbg !51, !tbaa !9
  br label %if.end, !dbg !49

if.else:                                          ; preds = %entry
  %7 = load i32, ptr %n.addr, align 4, !dbg !52, !tbaa !9
  %call2 = call contract noundef float @_Z9factoriali(i32 noundef %7) #6, !dbg !53
  %8 = load ptr, ptr %f.addr, align 8, !dbg !54, !tbaa !34
  %9 = load i32, ptr %i, align 4, !dbg !55, !tbaa !9
  %idxprom3 = sext i32 %9 to i64, !dbg !54
  %arrayidx4 = getelementptr inbounds float, ptr %8, i64 %idxprom3, !dbg !54
  store float %call2, ptr %arrayidx4, align 4, !dbg !56, !tbaa !57
  br label %if.end

if.end:                                           ; preds = %if.else, %if.then
  %10 = load i32, ptr %n.addr, align 4, !dbg !59, !tbaa !9
  switch i32 %10, label %sw.epilog [
    i32 1, label %sw.bb
    i32 2, label %sw.bb7
    i32 3, label %sw.bb10
    i32 4, label %sw.bb14
    i32 5, label %sw.bb17
    i32 6, label %sw.bb20
  ], !dbg !60

sw.bb:                                            ; preds = %if.end
  %11 = load ptr, ptr %o.addr, align 8, !dbg !61, !tbaa !31
  %12 = load i32, ptr %i, align 4, !dbg !62, !tbaa !9
  %idxprom5 = sext i32 %12 to i64, !dbg !61
  %arrayidx6 = getelementptr inbounds i32, ptr %11, i64 %idxprom5, !dbg !61
  store i32 3, ptr %arrayidx6, align 4, !dbg !63, !tbaa !9
  br label %sw.epilog, !dbg !64

sw.bb7:                                           ; preds = %if.end
  %13 = load ptr, ptr %o.addr, align 8, !dbg !65, !tbaa !31
  %14 = load i32, ptr %i, align 4, !dbg !66, !tbaa !9
  %idxprom8 = sext i32 %14 to i64, !dbg !65
  %arrayidx9 = getelementptr inbounds i32, ptr %13, i64 %idxprom8, !dbg !65
  store i32 9, ptr %arrayidx9, align 4, !dbg !67, !tbaa !9
  br label %sw.epilog, !dbg !68

sw.bb10:                                          ; preds = %if.end
  %15 = load ptr, ptr %o.addr, align 8, !dbg !69, !tbaa !31
  %16 = load i32, ptr %i, align 4, !dbg !70, !tbaa !9
  %idxprom11 = sext i32 %16 to i64, !dbg !69
  %arrayidx12 = getelementptr inbounds i32, ptr %15, i64 %idxprom11, !dbg !69
  %17 = load i32, ptr %arrayidx12, align 4, !dbg !71, !tbaa !9
  %add13 = add nsw i32 %17, 4, !dbg !71
  store i32 %add13, ptr %arrayidx12, align 4, !dbg !71, !tbaa !9
  br label %sw.epilog, !dbg !72

sw.bb14:                                          ; preds = %if.end
  %18 = load ptr, ptr %f.addr, align 8, !dbg !73, !tbaa !34
  %19 = load i32, ptr %i, align 4, !dbg !74, !tbaa !9
  %idxprom15 = sext i32 %19 to i64, !dbg !73
  %arrayidx16 = getelementptr inbounds float, ptr %18, i64 %idxprom15, !dbg !73
  store float 2.000000e+00, ptr %arrayidx16, align 4, !dbg !75, !tbaa !57
  br label %sw.epilog, !dbg !76

sw.bb17:                                          ; preds = %if.end
  %20 = load ptr, ptr %f.addr, align 8, !dbg !77, !tbaa !34
  %21 = load i32, ptr %i, align 4, !dbg !78, !tbaa !9
  %idxprom18 = sext i32 %21 to i64, !dbg !77
  %arrayidx19 = getelementptr inbounds float, ptr %20, i64 %idxprom18, !dbg !77
  %22 = load float, ptr %arrayidx19, align 4, !dbg !79, !tbaa !57
  %mul = fmul contract float %22, 4.000000e+00, !dbg !79
  store float %mul, ptr %arrayidx19, align 4, !dbg !79, !tbaa !57
  br label %sw.epilog, !dbg !80

sw.bb20:                                          ; preds = %if.end
  %23 = load ptr, ptr %o.addr, align 8, !dbg !81, !tbaa !31
  %call21 = call noundef i32 @_ZL9atomicAddPii(ptr noundef %23, i32 noundef 3) #6, !dbg !82
  br label %sw.epilog, !dbg !83

sw.epilog:                                        ; preds = %if.end, %sw.bb20, %sw.bb17, %sw.bb14, %sw.bb10, %sw.bb7, %sw.bb
  br label %while.cond, !dbg !84

while.cond:                                       ; preds = %while.body, %sw.epilog
  %24 = load ptr, ptr %o.addr, align 8, !dbg !85, !tbaa !31
  %arrayidx22 = getelementptr inbounds i32, ptr %24, i64 1, !dbg !85
  %call23 = call noundef i32 @_ZL9atomicAddPii(ptr noundef %arrayidx22, i32 noundef 1) #6, !dbg !86
  %25 = load i32, ptr %n.addr, align 4, !dbg !87, !tbaa !9
  %cmp24 = icmp slt i32 %call23, %25, !dbg !88
  br i1 %cmp24, label %while.body, label %while.end, !dbg !84

while.body:                                       ; preds = %while.cond
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !89
  br label %while.cond, !dbg !84, !llvm.loop !90

while.end:                                        ; preds = %while.cond
  call void @llvm.lifetime.end.p0(ptr %mask) #7, !dbg !93
  call void @llvm.lifetime.end.p0(ptr %i) #7, !dbg !93
  ret void, !dbg !93
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #2

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #3 comdat align 2 {
entry:
  %0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %0
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL9atomicAddPii(ptr noundef %address, i32 noundef %value) #3 {
entry:
  %address.addr = alloca ptr, align 8
  %value.addr = alloca i32, align 4
  %.atomictmp = alloca i32, align 4
  %atomic-temp = alloca i32, align 4
  store ptr %address, ptr %address.addr, align 8, !tbaa !31
  store i32 %value, ptr %value.addr, align 4, !tbaa !9
  %0 = load ptr, ptr %address.addr, align 8, !tbaa !31
  %1 = load i32, ptr %value.addr, align 4, !tbaa !9
  store i32 %1, ptr %.atomictmp, align 4, !tbaa !9
  %2 = load i32, ptr %.atomictmp, align 4
  %3 = atomicrmw add ptr %0, i32 %2 monotonic, align 4
  store i32 %3, ptr %atomic-temp, align 4
  %4 = load i32, ptr %atomic-temp, align 4, !tbaa !9
  ret i32 %4
}

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #5

attributes #0 = { convergent mustprogress noinline nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #1 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #2 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #3 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #4 = { convergent nocallback nounwind }
attributes #5 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { convergent nounwind }
attributes #7 = { nounwind }

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
!7 = !DIFile(filename: "calls.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "helper", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !DILocation(line: 2, column: 52, scope: !13)
!17 = !DILocation(line: 2, column: 56, scope: !13)
!18 = !DILocation(line: 2, column: 54, scope: !13)
!19 = !DILocation(line: 2, column: 58, scope: !13)
!20 = !DILocation(line: 2, column: 45, scope: !13)
!21 = distinct !DISubprogram(name: "factorial", scope: !7, file: !7, line: 3, type: !14, scopeLine: 3, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!22 = !DILocation(line: 3, column: 57, scope: !21)
!23 = !DILocation(line: 3, column: 59, scope: !21)
!24 = !DILocation(line: 3, column: 72, scope: !21)
!25 = !DILocation(line: 3, column: 86, scope: !21)
!26 = !DILocation(line: 3, column: 88, scope: !21)
!27 = !DILocation(line: 3, column: 76, scope: !21)
!28 = !DILocation(line: 3, column: 74, scope: !21)
!29 = !DILocation(line: 3, column: 50, scope: !21)
!30 = distinct !DISubprogram(name: "calls", scope: !7, file: !7, line: 4, type: !14, scopeLine: 4, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!31 = !{!32, !32, i64 0}
!32 = !{!"p1 int", !33, i64 0}
!33 = !{!"any pointer", !11, i64 0}
!34 = !{!35, !35, i64 0}
!35 = !{!"p1 float", !33, i64 0}
!36 = !DILocation(line: 5, column: 3, scope: !30)
!37 = !DILocation(line: 5, column: 11, scope: !30)
!38 = !DILocation(line: 5, column: 7, scope: !30)
!39 = !DILocation(line: 6, column: 3, scope: !30)
!40 = !DILocation(line: 8, column: 35, scope: !30)
!41 = !DILocation(line: 7, column: 3, scope: !30)
!42 = !{i64 370, i64 374, i64 391, i64 416, i64 459}
!43 = !DILocation(line: 9, column: 7, scope: !30)
!44 = !DILocation(line: 9, column: 9, scope: !30)
!45 = !DILocation(line: 9, column: 28, scope: !30)
!46 = !DILocation(line: 9, column: 21, scope: !30)
!47 = !DILocation(line: 9, column: 33, scope: !30)
!48 = !DILocation(line: 9, column: 31, scope: !30)
!49 = !DILocation(line: 9, column: 14, scope: !30)
!50 = !DILocation(line: 9, column: 16, scope: !30)
!51 = !DILocation(line: 9, column: 19, scope: !30)
!52 = !DILocation(line: 9, column: 61, scope: !30)
!53 = !DILocation(line: 9, column: 51, scope: !30)
!54 = !DILocation(line: 9, column: 44, scope: !30)
!55 = !DILocation(line: 9, column: 46, scope: !30)
!56 = !DILocation(line: 9, column: 49, scope: !30)
!57 = !{!58, !58, i64 0}
!58 = !{!"float", !11, i64 0}
!59 = !DILocation(line: 10, column: 11, scope: !30)
!60 = !DILocation(line: 10, column: 3, scope: !30)
!61 = !DILocation(line: 11, column: 13, scope: !30)
!62 = !DILocation(line: 11, column: 15, scope: !30)
!63 = !DILocation(line: 11, column: 18, scope: !30)
!64 = !DILocation(line: 11, column: 23, scope: !30)
!65 = !DILocation(line: 12, column: 13, scope: !30)
!66 = !DILocation(line: 12, column: 15, scope: !30)
!67 = !DILocation(line: 12, column: 18, scope: !30)
!68 = !DILocation(line: 12, column: 23, scope: !30)
!69 = !DILocation(line: 13, column: 13, scope: !30)
!70 = !DILocation(line: 13, column: 15, scope: !30)
!71 = !DILocation(line: 13, column: 18, scope: !30)
!72 = !DILocation(line: 13, column: 24, scope: !30)
!73 = !DILocation(line: 14, column: 13, scope: !30)
!74 = !DILocation(line: 14, column: 15, scope: !30)
!75 = !DILocation(line: 14, column: 18, scope: !30)
!76 = !DILocation(line: 14, column: 23, scope: !30)
!77 = !DILocation(line: 15, column: 13, scope: !30)
!78 = !DILocation(line: 15, column: 15, scope: !30)
!79 = !DILocation(line: 15, column: 18, scope: !30)
!80 = !DILocation(line: 15, column: 24, scope: !30)
!81 = !DILocation(line: 16, column: 23, scope: !30)
!82 = !DILocation(line: 16, column: 13, scope: !30)
!83 = !DILocation(line: 16, column: 30, scope: !30)
!84 = !DILocation(line: 18, column: 3, scope: !30)
!85 = !DILocation(line: 18, column: 21, scope: !30)
!86 = !DILocation(line: 18, column: 10, scope: !30)
!87 = !DILocation(line: 18, column: 32, scope: !30)
!88 = !DILocation(line: 18, column: 30, scope: !30)
!89 = !DILocation(line: 18, column: 35, scope: !30)
!90 = distinct !{!90, !84, !91, !92}
!91 = !DILocation(line: 18, column: 49, scope: !30)
!92 = !{!"llvm.loop.mustprogress"}
!93 = !DILocation(line: 19, column: 1, scope: !30)
