; ModuleID = 'figure4.cu'
source_filename = "figure4.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.__kw_threadIdx_t = type { i8 }

$_ZN16__kw_threadIdx_t6read_xEv = comdat any

@_ZZ4walkPfPKfiE1a = internal addrspace(3) global [1024 x float] undef, align 4
@threadIdx = extern_weak dso_local addrspace(1) global %struct.__kw_threadIdx_t, align 1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4walkPfPKfi(ptr noundef %out, ptr noundef %in, i32 noundef %count) #0 !dbg !13 {
entry:
  %out.addr = alloca ptr, align 8
  %in.addr = alloca ptr, align 8
  %count.addr = alloca i32, align 4
  %sum = alloca float, align 4
  %p = alloca ptr, align 8
  %end = alloca ptr, align 8
  store ptr %out, ptr %out.addr, align 8, !tbaa !16
  store ptr %in, ptr %in.addr, align 8, !tbaa !16
  store i32 %count, ptr %count.addr, align 4, !tbaa !9
  %0 = load ptr, ptr %in.addr, align 8, !dbg !19, !tbaa !16
  %call = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #5, !dbg !20
  %idxprom = zext i32 %call to i64, !dbg !19
  %arrayidx = getelementptr inbounds nuw float, ptr %0, i64 %idxprom, !dbg !19
  %1 = load float, ptr %arrayidx, align 4, !dbg !19, !tbaa !21
  %call1 = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #5, !dbg !23
  %idxprom2 = zext i32 %call1 to i64, !dbg !24
  %arrayidx3 = getelementptr inbounds nuw [1024 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ4walkPfPKfiE1a to ptr), i64 0, i64 %idxprom2, !dbg !24
  store float %1, ptr %arrayidx3, align 4, !dbg !25, !tbaa !21
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !26
  call void @llvm.lifetime.start.p0(ptr %sum) #6, !dbg !27
  store float 0.000000e+00, ptr %sum, align 4, !dbg !28, !tbaa !21
  call void @llvm.lifetime.start.p0(ptr %p) #6, !dbg !29
  store ptr addrspacecast (ptr addrspace(3) @_ZZ4walkPfPKfiE1a to ptr), ptr %p, align 8, !dbg !30, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %end) #6, !dbg !31
  %2 = load i32, ptr %count.addr, align 4, !dbg !32, !tbaa !9
  %idx.ext = sext i32 %2 to i64, !dbg !33
  %add.ptr = getelementptr inbounds float, ptr addrspacecast (ptr addrspace(3) @_ZZ4walkPfPKfiE1a to ptr), i64 %idx.ext, !dbg !33
  store ptr %add.ptr, ptr %end, align 8, !dbg !34, !tbaa !16
  br label %while.cond, !dbg !35

while.cond:                                       ; preds = %while.body, %entry
  %3 = load ptr, ptr %p, align 8, !dbg !36, !tbaa !16
  %4 = load ptr, ptr %end, align 8, !dbg !37, !tbaa !16
  %cmp = icmp ne ptr %3, %4, !dbg !38
  br i1 %cmp, label %while.body, label %while.end, !dbg !35

while.body:                                       ; preds = %while.cond
  %5 = load ptr, ptr %p, align 8, !dbg !39, !tbaa !16
  %6 = load float, ptr %5, align 4, !dbg !40, !tbaa !21
  %7 = load float, ptr %sum, align 4, !dbg !41, !tbaa !21
  %add = fadd contract float %7, %6, !dbg !41
  store float %add, ptr %sum, align 4, !dbg !41, !tbaa !21
  %8 = load ptr, ptr %p, align 8, !dbg !42, !tbaa !16
  %incdec.ptr = getelementptr inbounds nuw float, ptr %8, i32 1, !dbg !42
  store ptr %incdec.ptr, ptr %p, align 8, !dbg !42, !tbaa !16
  br label %while.cond, !dbg !35, !llvm.loop !43

while.end:                                        ; preds = %while.cond
  %9 = load float, ptr %sum, align 4, !dbg !46, !tbaa !21
  %10 = load ptr, ptr %out.addr, align 8, !dbg !47, !tbaa !16
  %call4 = call noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #5, !dbg !48
  %idxprom5 = zext i32 %call4 to i64, !dbg !47
  %arrayidx6 = getelementptr inbounds nuw float, ptr %10, i64 %idxprom5, !dbg !47
  store float %9, ptr %arrayidx6, align 4, !dbg !49, !tbaa !21
  call void @llvm.lifetime.end.p0(ptr %end) #6, !dbg !50
  call void @llvm.lifetime.end.p0(ptr %p) #6, !dbg !50
  call void @llvm.lifetime.end.p0(ptr %sum) #6, !dbg !50
  ret void, !dbg !50
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define linkonce_odr dso_local noundef i32 @_ZN16__kw_threadIdx_t6read_xEv() #1 comdat align 2 {
entry:
  %0 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret i32 %0
}

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #2

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #3

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #3

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #4

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx88,+sm_80" }
attributes #2 = { convergent nocallback nounwind }
attributes #3 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { convergent nounwind }
attributes #6 = { nounwind }

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
!7 = !DIFile(filename: "figure4.cu", directory: "/examples")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "walk", scope: !7, file: !7, line: 2, type: !14, scopeLine: 2, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 float", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !DILocation(line: 4, column: 20, scope: !13)
!20 = !DILocation(line: 4, column: 23, scope: !13)
!21 = !{!22, !22, i64 0}
!22 = !{!"float", !11, i64 0}
!23 = !DILocation(line: 4, column: 5, scope: !13)
!24 = !DILocation(line: 4, column: 3, scope: !13)
!25 = !DILocation(line: 4, column: 18, scope: !13)
!26 = !DILocation(line: 5, column: 3, scope: !13)
!27 = !DILocation(line: 6, column: 3, scope: !13)
!28 = !DILocation(line: 6, column: 9, scope: !13)
!29 = !DILocation(line: 7, column: 3, scope: !13)
!30 = !DILocation(line: 7, column: 10, scope: !13)
!31 = !DILocation(line: 8, column: 3, scope: !13)
!32 = !DILocation(line: 8, column: 20, scope: !13)
!33 = !DILocation(line: 8, column: 18, scope: !13)
!34 = !DILocation(line: 8, column: 10, scope: !13)
!35 = !DILocation(line: 9, column: 3, scope: !13)
!36 = !DILocation(line: 9, column: 10, scope: !13)
!37 = !DILocation(line: 9, column: 15, scope: !13)
!38 = !DILocation(line: 9, column: 12, scope: !13)
!39 = !DILocation(line: 10, column: 13, scope: !13)
!40 = !DILocation(line: 10, column: 12, scope: !13)
!41 = !DILocation(line: 10, column: 9, scope: !13)
!42 = !DILocation(line: 11, column: 5, scope: !13)
!43 = distinct !{!43, !35, !44, !45}
!44 = !DILocation(line: 12, column: 3, scope: !13)
!45 = !{!"llvm.loop.mustprogress"}
!46 = !DILocation(line: 13, column: 22, scope: !13)
!47 = !DILocation(line: 13, column: 3, scope: !13)
!48 = !DILocation(line: 13, column: 7, scope: !13)
!49 = !DILocation(line: 13, column: 20, scope: !13)
!50 = !DILocation(line: 14, column: 1, scope: !13)
