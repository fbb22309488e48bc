; ModuleID = 'general.cu'
source_filename = "general.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__kw_threadIdx_t = type { i8 }
%struct.float2 = type { float, float }

$_ZN16__kw_threadIdx_t6read_xEv = comdat any

@threadIdx = extern_weak dso_local addrspace(1) global %struct.__kw_threadIdx_t, align 1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z11local_arrayPii(ptr noundef %a, i32 noundef %i) #0 !dbg !13 {
entry:
  %a.addr = alloca ptr, align 8
  %i.addr = alloca i32, align 4
  %v = alloca [4 x i32], align 4
  store ptr %a, ptr %a.addr, align 8, !tbaa !16
  store i32 %i, ptr %i.addr, align 4, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %v) #5, !dbg !19
  %0 = load ptr, ptr %a.addr, align 8, !dbg !20, !tbaa !16
  %arrayidx = getelementptr inbounds i32, ptr %0, i64 0, !dbg !20
  %1 = load i32, ptr %arrayidx, align 4, !dbg !20, !tbaa !9
  store i32 %1, ptr %v, align 4, !dbg !21, !tbaa !9
  %arrayinit.element = getelementptr inbounds i32, ptr %v, i64 1, !dbg !21
  %2 = load ptr, ptr %a.addr, align 8, !dbg !22, !tbaa !16
  %arrayidx1 = getelementptr inbounds i32, ptr %2, i64 1, !dbg !22
  %3 = load i32, ptr %arrayidx1, align 4, !dbg !22, !tbaa !9
  store i32 %3, ptr %arrayinit.element, align 4, !dbg !21, !tbaa !9
  %arrayinit.element2 = getelementptr inbounds i32, ptr %v, i64 2, !dbg !21
  %4 = load ptr, ptr %a.addr, align 8, !dbg !23, !tbaa !16
  %arrayidx3 = getelementptr inbounds i32, ptr %4, i64 2, !dbg !23
  %5 = load i32, ptr %arrayidx3, align 4, !dbg !23, !tbaa !9
  store i32 %5, ptr %arrayinit.element2, align 4, !dbg !21, !tbaa !9
  %arrayinit.element4 = getelementptr inbounds i32, ptr %v, i64 3, !dbg !21
  %6 = load ptr, ptr %a.addr, align 8, !dbg !24, !tbaa !16
  %arrayidx5 = getelementptr inbounds i32, ptr %6, i64 3, !dbg !24
  %7 = load i32, ptr %arrayidx5, align 4, !dbg !24, !tbaa !9
  store i32 %7, ptr %arrayinit.element4, align 4, !dbg !21, !tbaa !9
  %arrayidx6 = getelementptr inbounds [4 x i32], ptr %v, i64 0, i64 1, !dbg !25
  %8 = load i32, ptr %arrayidx6, align 4, !dbg !25, !tbaa !9
  %arrayidx7 = getelementptr inbounds [4 x i32], ptr %v, i64 0, i64 2, !dbg !26
  %9 = load i32, ptr %arrayidx7, align 4, !dbg !26, !tbaa !9
  %10 = load i32, ptr %i.addr, align 4, !dbg !27, !tbaa !9
  %mul = mul nsw i32 %9, %10, !dbg !28
  %add = add nsw i32 %8, %mul, !dbg !29
  %11 = load ptr, ptr %a.addr, align 8, !dbg !30, !tbaa !16
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #6, !dbg !31
  %idxprom = zext i32 %call to i64, !dbg !30
  %arrayidx8 = getelementptr inbounds nuw i32, ptr %11, i64 %idxprom, !dbg !30
  store i32 %add, ptr %arrayidx8, align 4, !dbg !32, !tbaa !9
  call void @llvm.lifetime.end.p0(ptr %v) #5, !dbg !33
  ret void, !dbg !33
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
define dso_local ptx_kernel void @_Z9invariantPfPKfiff(ptr noundef %a, ptr noalias noundef %b, i32 noundef %n, float noundef %x, float noundef %y) #0 !dbg !34 {
entry:
  %a.addr = alloca ptr, align 8
  %b.addr = alloca ptr, align 8
  %n.addr = alloca i32, align 4
  %x.addr = alloca float, align 4
  %y.addr = alloca float, align 4
  %i = alloca i32, align 4
  store ptr %a, ptr %a.addr, align 8, !tbaa !35
  store ptr %b, ptr %b.addr, align 8, !tbaa !35
  store i32 %n, ptr %n.addr, align 4, !tbaa !9
  store float %x, ptr %x.addr, align 4, !tbaa !37
  store float %y, ptr %y.addr, align 4, !tbaa !37
  call void @llvm.lifetime.start.p0(ptr %i) #5, !dbg !39
  store i32 0, ptr %i, align 4, !dbg !40, !tbaa !9
  br label %for.cond, !dbg !39

for.cond:                                         ; preds = %for.inc, %entry
  %0 = load i32, ptr %i, align 4, !dbg !41, !tbaa !9
  %1 = load i32, ptr %n.addr, align 4, !dbg !42, !tbaa !9
  %cmp = icmp slt i32 %0, %1, !dbg !43
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !44

for.cond.cleanup:                                 ; preds = %for.cond
  call void @llvm.lifetime.end.p0(ptr %i) #5, !dbg !44
  br label %for.end

for.body:                                         ; preds = %for.cond
  %2 = load ptr, ptr %b.addr, align 8, !dbg !45, !tbaa !35
  %3 = load i32, ptr %i, align 4, !dbg !46, !tbaa !9
  %idxprom = sext i32 %3 to i64, !dbg !45
  %arrayidx = getelementptr inbounds float, ptr %2, i64 %idxprom, !dbg !45
  %4 = load float, ptr %arrayidx, align 4, !dbg !45, !tbaa !37
  %5 = load float, ptr %x.addr, align 4, !dbg !47, !tbaa !37
  %6 = load float, ptr %y.addr, align 4, !dbg !48, !tbaa !37
  %div = fdiv contract float %5, %6, !dbg !49
  %mul = fmul contract float %4, %div, !dbg !50
  %7 = load ptr, ptr %a.addr, align 8, !dbg !51, !tbaa !35
  %8 = load i32, ptr %i, align 4, !dbg !52, !tbaa !9
  %idxprom1 = sext i32 %8 to i64, !dbg !51
  %arrayidx2 = getelementptr inbounds float, ptr %7, i64 %idxprom1, !dbg !51
  store float %mul, ptr %arrayidx2, align 4, !dbg !53, !tbaa !37
  br label %for.inc, !dbg !51

for.inc:                                          ; preds = %for.body
  %9 = load i32, ptr %i, align 4, !dbg !54, !tbaa !9
  %inc = add nsw i32 %9, 1, !dbg !54
  store i32 %inc, ptr %i, align 4, !dbg !54, !tbaa !9
  br label %for.cond, !dbg !44, !llvm.loop !55

for.end:                                          ; preds = %for.cond.cleanup
  ret void, !dbg !58
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z9redundantPfPKfb(ptr noundef %a, ptr noalias noundef %b, i1 noundef zeroext %p) #0 !dbg !59 {
entry:
  %a.addr = alloca ptr, align 8
  %b.addr = alloca ptr, align 8
  %p.addr = alloca i8, align 1
  %x = alloca float, align 4
  store ptr %a, ptr %a.addr, align 8, !tbaa !35
  store ptr %b, ptr %b.addr, align 8, !tbaa !35
  %storedv = zext i1 %p to i8
  store i8 %storedv, ptr %p.addr, align 1, !tbaa !60
  call void @llvm.lifetime.start.p0(ptr %x) #5, !dbg !62
  %0 = load ptr, ptr %b.addr, align 8, !dbg !63, !tbaa !35
  %arrayidx = getelementptr inbounds float, ptr %0, i64 3, !dbg !63
  %1 = load float, ptr %arrayidx, align 4, !dbg !63, !tbaa !37
  store float %1, ptr %x, align 4, !dbg !64, !tbaa !37
  %2 = load i8, ptr %p.addr, align 1, !dbg !65, !tbaa !60, !range !66, !noundef !15
  %loadedv = trunc i8 %2 to i1, !dbg !65
  br i1 %loadedv, label %if.then, label %if.end, !dbg !65

if.then:                                          ; preds = %entry
  %3 = load ptr, ptr %b.addr, align 8, !dbg !67, !tbaa !35
  %arrayidx1 = getelementptr inbounds float, ptr %3, i64 3, !dbg !67
  %4 = load float, ptr %arrayidx1, align 4, !dbg !67, !tbaa !37
  %add = fadd contract float %4, 1.000000e+00, !dbg !68
  %5 = load ptr, ptr %a.addr, align 8, !dbg !69, !tbaa !35
  %arrayidx2 = getelementptr inbounds float, ptr %5, i64 0, !dbg !69
  store float %add, ptr %arrayidx2, align 4, !dbg !70, !tbaa !37
  br label %if.end, !dbg !69

if.end:                                           ; preds = %if.then, %entry
  %6 = load float, ptr %x, align 4, !dbg !71, !tbaa !37
  %7 = load ptr, ptr %a.addr, align 8, !dbg !72, !tbaa !35
  %arrayidx3 = getelementptr inbounds float, ptr %7, i64 1, !dbg !72
  store float %6, ptr %arrayidx3, align 4, !dbg !73, !tbaa !37
  call void @llvm.lifetime.end.p0(ptr %x) #5, !dbg !74
  ret void, !dbg !74
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z11overwrittenPfS_i(ptr noalias noundef %a, ptr noalias noundef %b, i32 noundef %n) #0 !dbg !75 {
entry:
  %a.addr = alloca ptr, align 8
  %b.addr = alloca ptr, align 8
  %n.addr = alloca i32, align 4
  %i = alloca i32, align 4
  store ptr %a, ptr %a.addr, align 8, !tbaa !35
  store ptr %b, ptr %b.addr, align 8, !tbaa !35
  store i32 %n, ptr %n.addr, align 4, !tbaa !9
  %0 = load ptr, ptr %a.addr, align 8, !dbg !76, !tbaa !35
  %arrayidx = getelementptr inbounds float, ptr %0, i64 0, !dbg !76
  store float 1.000000e+00, ptr %arrayidx, align 4, !dbg !77, !tbaa !37
  call void @llvm.lifetime.start.p0(ptr %i) #5, !dbg !78
  store i32 0, ptr %i, align 4, !dbg !79, !tbaa !9
  br label %for.cond, !dbg !78

for.cond:                                         ; preds = %for.inc, %entry
  %1 = load i32, ptr %i, align 4, !dbg !80, !tbaa !9
  %2 = load i32, ptr %n.addr, align 4, !dbg !81, !tbaa !9
  %cmp = icmp slt i32 %1, %2, !dbg !82
  br i1 %cmp, label %for.body, label %for.cond.cleanup, !dbg !83

for.cond.cleanup:                                 ; preds = %for.cond
  call void @llvm.lifetime.end.p0(ptr %i) #5, !dbg !83
  br label %for.end

for.body:                                         ; preds = %for.cond
  %3 = load ptr, ptr %b.addr, align 8, !dbg !84, !tbaa !35
  %4 = load i32, ptr %i, align 4, !dbg !85, !tbaa !9
  %idxprom = sext i32 %4 to i64, !dbg !84
  %arrayidx1 = getelementptr inbounds float, ptr %3, i64 %idxprom, !dbg !84
  store float 2.000000e+00, ptr %arrayidx1, align 4, !dbg !86, !tbaa !37
  br label %for.inc, !dbg !84

for.inc:                                          ; preds = %for.body
  %5 = load i32, ptr %i, align 4, !dbg !87, !tbaa !9
  %inc = add nsw i32 %5, 1, !dbg !87
  store i32 %inc, ptr %i, align 4, !dbg !87, !tbaa !9
  br label %for.cond, !dbg !83, !llvm.loop !88

for.end:                                          ; preds = %for.cond.cleanup
  %6 = load ptr, ptr %a.addr, align 8, !dbg !90, !tbaa !35
  %arrayidx2 = getelementptr inbounds float, ptr %6, i64 0, !dbg !90
  store float 3.000000e+00, ptr %arrayidx2, align 4, !dbg !91, !tbaa !37
  ret void, !dbg !92
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z5pairsP6float2(ptr noundef %a) #0 !dbg !93 {
entry:
  %a.addr = alloca ptr, align 8
  %v = alloca %struct.float2, align 8
  %ref.tmp = alloca %struct.float2, align 8
  store ptr %a, ptr %a.addr, align 8, !tbaa !94
  call void @llvm.lifetime.start.p0(ptr %v) #5, !dbg !96
  %0 = load ptr, ptr %a.addr, align 8, !dbg !97, !tbaa !94
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #6, !dbg !98
  %idxprom = zext i32 %call to i64, !dbg !97
  %arrayidx = getelementptr inbounds nuw %struct.float2, ptr %0, i64 %idxprom, !dbg !97
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %v, ptr align 8 %arrayidx, i64 8, i1 false), !dbg !97, !tbaa.struct !99
  call void @llvm.lifetime.start.p0(ptr %ref.tmp) #5, !dbg !100
  %y = getelementptr inbounds nuw %struct.float2, ptr %v, i32 0, i32 1, !dbg !101
  %1 = load float, ptr %y, align 4, !dbg !101, !tbaa !102
  %x = getelementptr inbounds nuw %struct.float2, ptr %v, i32 0, i32 0, !dbg !104
  %2 = load float, ptr %x, align 8, !dbg !104, !tbaa !105
  %call1 = call %struct.float2 @_ZL11make_float2ff(float noundef %1, float noundef %2) #6, !dbg !100
  %3 = getelementptr inbounds nuw %struct.float2, ptr %ref.tmp, i32 0, i32 0, !dbg !100
  %4 = extractvalue %struct.float2 %call1, 0, !dbg !100
  store float %4, ptr %3, align 8, !dbg !100
  %5 = getelementptr inbounds nuw %struct.float2, ptr %ref.tmp, i32 0, i32 1, !dbg !100
  %6 = extractvalue %struct.float2 %call1, 1, !dbg !100
  store float %6, ptr %5, align 4, !dbg !100
  %7 = load ptr, ptr %a.addr, align 8, !dbg !106, !tbaa !94
  %call2 = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #6, !dbg !107
  %add = add i32 %call2, 32, !dbg !108
  %idxprom3 = zext i32 %add to i64, !dbg !106
  %arrayidx4 = getelementptr inbounds nuw %struct.float2, ptr %7, i64 %idxprom3, !dbg !106
  call void @llvm.memcpy.p0.p0.i64(ptr align 8 %arrayidx4, ptr align 8 %ref.tmp, i64 8, i1 false), !dbg !109, !tbaa.struct !99
  call void @llvm.lifetime.end.p0(ptr %ref.tmp) #5, !dbg !106
  call void @llvm.lifetime.end.p0(ptr %v) #5, !dbg !110
  ret void, !dbg !110
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #3

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal %struct.float2 @_ZL11make_float2ff(float noundef %x, float noundef %y) #2 {
entry:
  %retval = alloca %struct.float2, align 8
  %x.addr = alloca float, align 4
  %y.addr = alloca float, align 4
  store float %x, ptr %x.addr, align 4, !tbaa !37
  store float %y, ptr %y.addr, align 4, !tbaa !37
  %x1 = getelementptr inbounds nuw %struct.float2, ptr %retval, i32 0, i32 0
  %0 = load float, ptr %x.addr, align 4, !tbaa !37
  store float %0, ptr %x1, align 8, !tbaa !105
  %y2 = getelementptr inbounds nuw %struct.float2, ptr %retval, i32 0, i32 1
  %1 = load float, ptr %y.addr, align 4, !tbaa !37
  store float %1, ptr %y2, align 4, !tbaa !102
  %2 = load %struct.float2, ptr %retval, align 8
  ret %struct.float2 %2
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4sumsPiiiii(ptr noundef %out, i32 noundef %a, i32 noundef %b, i32 noundef %c, i32 noundef %d) #0 !dbg !111 {
entry:
  %out.addr = alloca ptr, align 8
  %a.addr = alloca i32, align 4
  %b.addr = alloca i32, align 4
  %c.addr = alloca i32, align 4
  %d.addr = alloca i32, align 4
  store ptr %out, ptr %out.addr, align 8, !tbaa !16
  store i32 %a, ptr %a.addr, align 4, !tbaa !9
  store i32 %b, ptr %b.addr, align 4, !tbaa !9
  store i32 %c, ptr %c.addr, align 4, !tbaa !9
  store i32 %d, ptr %d.addr, align 4, !tbaa !9
  %0 = load i32, ptr %a.addr, align 4, !dbg !112, !tbaa !9
  %1 = load i32, ptr %b.addr, align 4, !dbg !113, !tbaa !9
  %add = add nsw i32 %0, %1, !dbg !114
  %2 = load i32, ptr %c.addr, align 4, !dbg !115, !tbaa !9
  %add1 = add nsw i32 %add, %2, !dbg !116
  %3 = load ptr, ptr %out.addr, align 8, !dbg !117, !tbaa !16
  %arrayidx = getelementptr inbounds i32, ptr %3, i64 0, !dbg !117
  store i32 %add1, ptr %arrayidx, align 4, !dbg !118, !tbaa !9
  %4 = load i32, ptr %d.addr, align 4, !dbg !119, !tbaa !9
  %5 = load i32, ptr %c.addr, align 4, !dbg !120, !tbaa !9
  %add2 = add nsw i32 %4, %5, !dbg !121
  %6 = load i32, ptr %b.addr, align 4, !dbg !122, !tbaa !9
  %7 = load i32, ptr %a.addr, align 4, !dbg !123, !tbaa !9
  %add3 = add nsw i32 %6, %7, !dbg !124
  %add4 = add nsw i32 %add2, %add3, !dbg !125
  %8 = load ptr, ptr %out.addr, align 8, !dbg !126, !tbaa !16
  %arrayidx5 = getelementptr inbounds i32, ptr %8, i64 1, !dbg !126
  store i32 %add4, ptr %arrayidx5, align 4, !dbg !127, !tbaa !9
  ret void, !dbg !128
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #4

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #3 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
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
!7 = !DIFile(filename: "general.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "local_array", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 int", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !DILocation(line: 3, column: 3, scope: !13)
!20 = !DILocation(line: 3, column: 15, scope: !13)
!21 = !DILocation(line: 3, column: 14, scope: !13)
!22 = !DILocation(line: 3, column: 21, scope: !13)
!23 = !DILocation(line: 3, column: 27, scope: !13)
!24 = !DILocation(line: 3, column: 33, scope: !13)
!25 = !DILocation(line: 4, column: 20, scope: !13)
!26 = !DILocation(line: 4, column: 27, scope: !13)
!27 = !DILocation(line: 4, column: 34, scope: !13)
!28 = !DILocation(line: 4, column: 32, scope: !13)
!29 = !DILocation(line: 4, column: 25, scope: !13)
!30 = !DILocation(line: 4, column: 3, scope: !13)
!31 = !DILocation(line: 4, column: 5, scope: !13)
!32 = !DILocation(line: 4, column: 18, scope: !13)
!33 = !DILocation(line: 5, column: 1, scope: !13)
!34 = distinct !DISubprogram(name: "invariant", scope: !7, file: !7, line: 7, type: !14, scopeLine: 7, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!35 = !{!36, !36, i64 0}
!36 = !{!"p1 float", !18, i64 0}
!37 = !{!38, !38, i64 0}
!38 = !{!"float", !11, i64 0}
!39 = !DILocation(line: 8, column: 8, scope: !34)
!40 = !DILocation(line: 8, column: 12, scope: !34)
!41 = !DILocation(line: 8, column: 19, scope: !34)
!42 = !DILocation(line: 8, column: 23, scope: !34)
!43 = !DILocation(line: 8, column: 21, scope: !34)
!44 = !DILocation(line: 8, column: 3, scope: !34)
!45 = !DILocation(line: 8, column: 38, scope: !34)
!46 = !DILocation(line: 8, column: 40, scope: !34)
!47 = !DILocation(line: 8, column: 46, scope: !34)
!48 = !DILocation(line: 8, column: 50, scope: !34)
!49 = !DILocation(line: 8, column: 48, scope: !34)
!50 = !DILocation(line: 8, column: 43, scope: !34)
!51 = !DILocation(line: 8, column: 31, scope: !34)
!52 = !DILocation(line: 8, column: 33, scope: !34)
!53 = !DILocation(line: 8, column: 36, scope: !34)
!54 = !DILocation(line: 8, column: 26, scope: !34)
!55 = distinct !{!55, !44, !56, !57}
!56 = !DILocation(line: 8, column: 51, scope: !34)
!57 = !{!"llvm.loop.mustprogress"}
!58 = !DILocation(line: 9, column: 1, scope: !34)
!59 = distinct !DISubprogram(name: "redundant", scope: !7, file: !7, line: 11, type: !14, scopeLine: 11, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!60 = !{!61, !61, i64 0}
!61 = !{!"bool", !11, i64 0}
!62 = !DILocation(line: 12, column: 3, scope: !59)
!63 = !DILocation(line: 12, column: 13, scope: !59)
!64 = !DILocation(line: 12, column: 9, scope: !59)
!65 = !DILocation(line: 13, column: 7, scope: !59)
!66 = !{i8 0, i8 2}
!67 = !DILocation(line: 13, column: 17, scope: !59)
!68 = !DILocation(line: 13, column: 22, scope: !59)
!69 = !DILocation(line: 13, column: 10, scope: !59)
!70 = !DILocation(line: 13, column: 15, scope: !59)
!71 = !DILocation(line: 14, column: 10, scope: !59)
!72 = !DILocation(line: 14, column: 3, scope: !59)
!73 = !DILocation(line: 14, column: 8, scope: !59)
!74 = !DILocation(line: 15, column: 1, scope: !59)
!75 = distinct !DISubprogram(name: "overwritten", scope: !7, file: !7, line: 17, type: !14, scopeLine: 17, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!76 = !DILocation(line: 18, column: 3, scope: !75)
!77 = !DILocation(line: 18, column: 8, scope: !75)
!78 = !DILocation(line: 19, column: 8, scope: !75)
!79 = !DILocation(line: 19, column: 12, scope: !75)
!80 = !DILocation(line: 19, column: 19, scope: !75)
!81 = !DILocation(line: 19, column: 23, scope: !75)
!82 = !DILocation(line: 19, column: 21, scope: !75)
!83 = !DILocation(line: 19, column: 3, scope: !75)
!84 = !DILocation(line: 19, column: 31, scope: !75)
!85 = !DILocation(line: 19, column: 33, scope: !75)
!86 = !DILocation(line: 19, column: 36, scope: !75)
!87 = !DILocation(line: 19, column: 26, scope: !75)
!88 = distinct !{!88, !83, !89, !57}
!89 = !DILocation(line: 19, column: 38, scope: !75)
!90 = !DILocation(line: 20, column: 3, scope: !75)
!91 = !DILocation(line: 20, column: 8, scope: !75)
!92 = !DILocation(line: 21, column: 1, scope: !75)
!93 = distinct !DISubprogram(name: "pairs", scope: !7, file: !7, line: 23, type: !14, scopeLine: 23, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!94 = !{!95, !95, i64 0}
!95 = !{!"p1 _ZTS6float2", !18, i64 0}
!96 = !DILocation(line: 24, column: 3, scope: !93)
!97 = !DILocation(line: 24, column: 14, scope: !93)
!98 = !DILocation(line: 24, column: 16, scope: !93)
!99 = !{i64 0, i64 4, !37, i64 4, i64 4, !37}
!100 = !DILocation(line: 25, column: 25, scope: !93)
!101 = !DILocation(line: 25, column: 39, scope: !93)
!102 = !{!103, !38, i64 4}
!103 = !{!"_ZTS6float2", !38, i64 0, !38, i64 4}
!104 = !DILocation(line: 25, column: 44, scope: !93)
!105 = !{!103, !38, i64 0}
!106 = !DILocation(line: 25, column: 3, scope: !93)
!107 = !DILocation(line: 25, column: 5, scope: !93)
!108 = !DILocation(line: 25, column: 17, scope: !93)
!109 = !DILocation(line: 25, column: 23, scope: !93)
!110 = !DILocation(line: 26, column: 1, scope: !93)
!111 = distinct !DISubprogram(name: "sums", scope: !7, file: !7, line: 28, type: !14, scopeLine: 28, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!112 = !DILocation(line: 29, column: 13, scope: !111)
!113 = !DILocation(line: 29, column: 17, scope: !111)
!114 = !DILocation(line: 29, column: 15, scope: !111)
!115 = !DILocation(line: 29, column: 22, scope: !111)
!116 = !DILocation(line: 29, column: 20, scope: !111)
!117 = !DILocation(line: 29, column: 3, scope: !111)
!118 = !DILocation(line: 29, column: 10, scope: !111)
!119 = !DILocation(line: 30, column: 13, scope: !111)
!120 = !DILocation(line: 30, column: 17, scope: !111)
!121 = !DILocation(line: 30, column: 15, scope: !111)
!122 = !DILocation(line: 30, column: 23, scope: !111)
!123 = !DILocation(line: 30, column: 27, scope: !111)
!124 = !DILocation(line: 30, column: 25, scope: !111)
!125 = !DILocation(line: 30, column: 20, scope: !111)
!126 = !DILocation(line: 30, column: 3, scope: !111)
!127 = !DILocation(line: 30, column: 10, scope: !111)
!128 = !DILocation(line: 31, column: 1, scope: !111)
