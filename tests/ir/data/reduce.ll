; ModuleID = 'reduce.cu'
source_filename = "reduce.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@finished = dso_local addrspace(1) externally_initialized global i32 0, align 4
@totals = dso_local addrspace(1) externally_initialized global [4 x double] zeroinitializer, align 8
@_ZZ3sumPKfPfiE5parts = internal addrspace(3) global [32 x float] undef, align 4
@_ZZ3sumPKfPfiE4last = internal addrspace(3) global i8 undef, align 1
@_ZZ9histogramPKhPjPyiE5local = internal addrspace(3) global [256 x i32] undef, align 4
@llvm.compiler.used = appending global [2 x ptr] [ptr addrspacecast (ptr addrspace(1) @finished to ptr), ptr addrspacecast (ptr addrspace(1) @totals to ptr)], section "llvm.metadata"

; Function Attrs: convergent mustprogress noinline nounwind
define dso_local noundef float @_Z8warp_sumf(float noundef %0) #0 !dbg !13 {
  %2 = alloca float, align 4
  %3 = alloca i32, align 4
  store float %0, ptr %2, align 4, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %3) #8, !dbg !18
  store i32 16, ptr %3, align 4, !dbg !19, !tbaa !9
  br label %4, !dbg !18

4:                                                ; preds = %14, %1
  %5 = load i32, ptr %3, align 4, !dbg !20, !tbaa !9
  %6 = icmp sgt i32 %5, 0, !dbg !21
  br i1 %6, label %8, label %7, !dbg !22

7:                                                ; preds = %4
  call void @llvm.lifetime.end.p0(ptr %3) #8, !dbg !22
  br label %17

8:                                                ; preds = %4
  %9 = load float, ptr %2, align 4, !dbg !23, !tbaa !16
  %10 = load i32, ptr %3, align 4, !dbg !24, !tbaa !9
  %11 = call contract noundef float @_ZL12shuffle_downfi(float noundef %9, i32 noundef %10) #9, !dbg !25
  %12 = load float, ptr %2, align 4, !dbg !26, !tbaa !16
  %13 = fadd contract float %12, %11, !dbg !26
  store float %13, ptr %2, align 4, !dbg !26, !tbaa !16
  br label %14, !dbg !27

14:                                               ; preds = %8
  %15 = load i32, ptr %3, align 4, !dbg !28, !tbaa !9
  %16 = ashr i32 %15, 1, !dbg !28
  store i32 %16, ptr %3, align 4, !dbg !28, !tbaa !9
  br label %4, !dbg !22, !llvm.loop !29

17:                                               ; preds = %7
  %18 = load float, ptr %2, align 4, !dbg !32, !tbaa !16
  ret float %18, !dbg !33
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef float @_ZL12shuffle_downfi(float noundef %0, i32 noundef %1) #2 !dbg !34 {
  %3 = alloca float, align 4
  %4 = alloca i32, align 4
  store float %0, ptr %3, align 4, !tbaa !16
  store i32 %1, ptr %4, align 4, !tbaa !9
  %5 = load float, ptr %3, align 4, !dbg !36, !tbaa !16
  %6 = load i32, ptr %4, align 4, !dbg !37, !tbaa !9
  %7 = call contract float @llvm.nvvm.shfl.sync.down.f32(i32 -1, float %5, i32 %6, i32 31), !dbg !38
  ret float %7, !dbg !39
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z3sumPKfPfi(ptr noundef %0, ptr noundef %1, i32 noundef %2) #3 !dbg !40 {
  %4 = alloca ptr, align 8
  %5 = alloca ptr, align 8
  %6 = alloca i32, align 4
  %7 = alloca float, align 4
  %8 = alloca i32, align 4
  store ptr %0, ptr %4, align 8, !tbaa !41
  store ptr %1, ptr %5, align 8, !tbaa !41
  store i32 %2, ptr %6, align 4, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %7) #8, !dbg !44
  store float 0.000000e+00, ptr %7, align 4, !dbg !45, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %8) #8, !dbg !46
  %9 = call noundef i32 @_ZL8positionv() #9, !dbg !47
  store i32 %9, ptr %8, align 4, !dbg !48, !tbaa !9
  br label %10, !dbg !46

10:                                               ; preds = %23, %3
  %11 = load i32, ptr %8, align 4, !dbg !49, !tbaa !9
  %12 = load i32, ptr %6, align 4, !dbg !50, !tbaa !9
  %13 = icmp slt i32 %11, %12, !dbg !51
  br i1 %13, label %15, label %14, !dbg !52

14:                                               ; preds = %10
  call void @llvm.lifetime.end.p0(ptr %8) #8, !dbg !52
  br label %26

15:                                               ; preds = %10
  %16 = load ptr, ptr %4, align 8, !dbg !53, !tbaa !41
  %17 = load i32, ptr %8, align 4, !dbg !54, !tbaa !9
  %18 = sext i32 %17 to i64, !dbg !53
  %19 = getelementptr inbounds float, ptr %16, i64 %18, !dbg !53
  %20 = load float, ptr %19, align 4, !dbg !53, !tbaa !16
  %21 = load float, ptr %7, align 4, !dbg !55, !tbaa !16
  %22 = fadd contract float %21, %20, !dbg !55
  store float %22, ptr %7, align 4, !dbg !55, !tbaa !16
  br label %23, !dbg !56

23:                                               ; preds = %15
  %24 = load i32, ptr %8, align 4, !dbg !57, !tbaa !9
  %25 = add nsw i32 %24, 1024, !dbg !57
  store i32 %25, ptr %8, align 4, !dbg !57, !tbaa !9
  br label %10, !dbg !52, !llvm.loop !58

26:                                               ; preds = %14
  %27 = load float, ptr %7, align 4, !dbg !60, !tbaa !16
  %28 = call contract noundef float @_Z8warp_sumf(float noundef %27) #9, !dbg !61
  store float %28, ptr %7, align 4, !dbg !62, !tbaa !16
  %29 = call noundef i32 @_ZL6threadv() #9, !dbg !63
  %30 = and i32 %29, 31, !dbg !64
  %31 = icmp eq i32 %30, 0, !dbg !65
  br i1 %31, label %32, label %38, !dbg !65

32:                                               ; preds = %26
  %33 = load float, ptr %7, align 4, !dbg !66, !tbaa !16
  %34 = call noundef i32 @_ZL6threadv() #9, !dbg !67
  %35 = ashr i32 %34, 5, !dbg !68
  %36 = sext i32 %35 to i64, !dbg !69
  %37 = getelementptr inbounds [32 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ3sumPKfPfiE5parts to ptr), i64 0, i64 %36, !dbg !69
  store float %33, ptr %37, align 4, !dbg !70, !tbaa !16
  br label %38, !dbg !69

38:                                               ; preds = %32, %26
  call void @_ZL7barrierv() #9, !dbg !71
  %39 = call noundef i32 @_ZL6threadv() #9, !dbg !72
  %40 = icmp slt i32 %39, 32, !dbg !73
  br i1 %40, label %41, label %67, !dbg !73

41:                                               ; preds = %38
  %42 = call noundef i32 @_ZL6threadv() #9, !dbg !74
  %43 = call noundef i32 @_ZL7threadsv() #9, !dbg !75
  %44 = sdiv i32 %43, 32, !dbg !76
  %45 = icmp slt i32 %42, %44, !dbg !77
  br i1 %45, label %46, label %51, !dbg !74

46:                                               ; preds = %41
  %47 = call noundef i32 @_ZL6threadv() #9, !dbg !78
  %48 = sext i32 %47 to i64, !dbg !79
  %49 = getelementptr inbounds [32 x float], ptr addrspacecast (ptr addrspace(3) @_ZZ3sumPKfPfiE5parts to ptr), i64 0, i64 %48, !dbg !79
  %50 = load float, ptr %49, align 4, !dbg !79, !tbaa !16
  br label %52, !dbg !74

51:                                               ; preds = %41
  br label %52, !dbg !74

52:                                               ; preds = %51, %46
  %53 = phi contract float [ %50, %46 ], [ 0.000000e+00, %51 ], !dbg !74
  %54 = call contract noundef float @_Z8warp_sumf(float noundef %53) #9, !dbg !80
  store float %54, ptr %7, align 4, !dbg !81, !tbaa !16
  %55 = call noundef i32 @_ZL6threadv() #9, !dbg !82
  %56 = icmp eq i32 %55, 0, !dbg !83
  br i1 %56, label %57, label %66, !dbg !83

57:                                               ; preds = %52
  %58 = load float, ptr %7, align 4, !dbg !84, !tbaa !16
  %59 = load ptr, ptr %5, align 8, !dbg !85, !tbaa !41
  %60 = call noundef i32 @_ZL5blockv() #9, !dbg !86
  %61 = sext i32 %60 to i64, !dbg !85
  %62 = getelementptr inbounds float, ptr %59, i64 %61, !dbg !85
  store float %58, ptr %62, align 4, !dbg !87, !tbaa !16
  fence seq_cst, !dbg !88
  %63 = call noundef i32 @_ZL10atomic_addIjET_PS0_S0_(ptr noundef addrspacecast (ptr addrspace(1) @finished to ptr), i32 noundef 1) #9, !dbg !89
  %64 = icmp eq i32 %63, 63, !dbg !90
  %65 = zext i1 %64 to i8, !dbg !91
  store i8 %65, ptr addrspacecast (ptr addrspace(3) @_ZZ3sumPKfPfiE4last to ptr), align 1, !dbg !91, !tbaa !92
  br label %66, !dbg !94

66:                                               ; preds = %57, %52
  br label %67, !dbg !95

67:                                               ; preds = %66, %38
  call void @_ZL7barrierv() #9, !dbg !96
  %68 = load i8, ptr addrspacecast (ptr addrspace(3) @_ZZ3sumPKfPfiE4last to ptr), align 1, !dbg !97, !tbaa !92, !range !98, !noundef !15
  %69 = trunc i8 %68 to i1, !dbg !97
  br i1 %69, label %70, label %77, !dbg !99

70:                                               ; preds = %67
  %71 = call noundef i32 @_ZL6threadv() #9, !dbg !100
  %72 = icmp eq i32 %71, 0, !dbg !101
  br i1 %72, label %73, label %77, !dbg !99

73:                                               ; preds = %70
  %74 = load float, ptr %7, align 4, !dbg !102, !tbaa !16
  %75 = fpext contract float %74 to double, !dbg !102
  %76 = call contract noundef double @_ZL10atomic_addIdET_PS0_S0_(ptr noundef addrspacecast (ptr addrspace(1) @totals to ptr), double noundef %75) #9, !dbg !103
  br label %77, !dbg !103

77:                                               ; preds = %73, %70, %67
  call void @llvm.lifetime.end.p0(ptr %7) #8, !dbg !104
  ret void, !dbg !104
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL8positionv() #2 !dbg !105 {
  %1 = call noundef i32 @_ZL5blockv() #9, !dbg !106
  %2 = call noundef i32 @_ZL7threadsv() #9, !dbg !107
  %3 = mul nsw i32 %1, %2, !dbg !108
  %4 = call noundef i32 @_ZL6threadv() #9, !dbg !109
  %5 = add nsw i32 %3, %4, !dbg !110
  ret i32 %5, !dbg !111
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL6threadv() #2 !dbg !112 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !113
  ret i32 %1, !dbg !114
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal void @_ZL7barrierv() #2 !dbg !115 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !116
  ret void, !dbg !117
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL7threadsv() #2 !dbg !118 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x(), !dbg !119
  ret i32 %1, !dbg !120
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL5blockv() #2 !dbg !121 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !122
  ret i32 %1, !dbg !123
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL10atomic_addIjET_PS0_S0_(ptr noundef %0, i32 noundef %1) #2 !dbg !124 {
  %3 = alloca ptr, align 8
  %4 = alloca i32, align 4
  %5 = alloca i32, align 4
  %6 = alloca i32, align 4
  store ptr %0, ptr %3, align 8, !tbaa !125
  store i32 %1, ptr %4, align 4, !tbaa !9
  %7 = load ptr, ptr %3, align 8, !dbg !127, !tbaa !125
  %8 = load i32, ptr %4, align 4, !dbg !128, !tbaa !9
  store i32 %8, ptr %5, align 4, !dbg !129, !tbaa !9
  %9 = load i32, ptr %5, align 4, !dbg !129
  %10 = atomicrmw add ptr %7, i32 %9 monotonic, align 4, !dbg !129
  store i32 %10, ptr %6, align 4, !dbg !129
  %11 = load i32, ptr %6, align 4, !dbg !129, !tbaa !9
  ret i32 %11, !dbg !130
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef double @_ZL10atomic_addIdET_PS0_S0_(ptr noundef %0, double noundef %1) #2 !dbg !131 {
  %3 = alloca ptr, align 8
  %4 = alloca double, align 8
  %5 = alloca double, align 8
  %6 = alloca double, align 8
  store ptr %0, ptr %3, align 8, !tbaa !132
  store double %1, ptr %4, align 8, !tbaa !134
  %7 = load ptr, ptr %3, align 8, !dbg !136, !tbaa !132
  %8 = load double, ptr %4, align 8, !dbg !137, !tbaa !134
  store double %8, ptr %5, align 8, !dbg !138, !tbaa !134
  %9 = load double, ptr %5, align 8, !dbg !138
  %10 = atomicrmw fadd ptr %7, double %9 monotonic, align 8, !dbg !138
  store double %10, ptr %6, align 8, !dbg !138
  %11 = load double, ptr %6, align 8, !dbg !138, !tbaa !134
  ret double %11, !dbg !139
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z9histogramPKhPjPyi(ptr noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3) #3 !dbg !140 {
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca ptr, align 8
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = alloca i32, align 4
  %13 = alloca i64, align 8
  %14 = alloca i64, align 8
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  store ptr %0, ptr %5, align 8, !tbaa !141
  store ptr %1, ptr %6, align 8, !tbaa !125
  store ptr %2, ptr %7, align 8, !tbaa !143
  store i32 %3, ptr %8, align 4, !tbaa !9
  %17 = call noundef i32 @_ZL6threadv() #9, !dbg !145
  %18 = sext i32 %17 to i64, !dbg !146
  %19 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ9histogramPKhPjPyiE5local to ptr), i64 0, i64 %18, !dbg !146
  store i32 0, ptr %19, align 4, !dbg !147, !tbaa !9
  call void @_ZL7barrierv() #9, !dbg !148
  call void @llvm.lifetime.start.p0(ptr %9) #8, !dbg !149
  %20 = call noundef i32 @_ZL8positionv() #9, !dbg !150
  store i32 %20, ptr %9, align 4, !dbg !151, !tbaa !9
  br label %21, !dbg !149

21:                                               ; preds = %58, %4
  %22 = load i32, ptr %9, align 4, !dbg !152, !tbaa !9
  %23 = load i32, ptr %8, align 4, !dbg !153, !tbaa !9
  %24 = icmp slt i32 %22, %23, !dbg !154
  br i1 %24, label %26, label %25, !dbg !155

25:                                               ; preds = %21
  call void @llvm.lifetime.end.p0(ptr %9) #8, !dbg !155
  br label %62

26:                                               ; preds = %21
  call void @llvm.lifetime.start.p0(ptr %10) #8, !dbg !156
  %27 = load ptr, ptr %5, align 8, !dbg !157, !tbaa !141
  %28 = load i32, ptr %9, align 4, !dbg !158, !tbaa !9
  %29 = sext i32 %28 to i64, !dbg !157
  %30 = getelementptr inbounds i8, ptr %27, i64 %29, !dbg !157
  %31 = load i8, ptr %30, align 1, !dbg !157, !tbaa !159
  %32 = zext i8 %31 to i32, !dbg !157
  %33 = icmp sgt i32 %32, 127, !dbg !160
  %34 = call noundef i32 @_ZL6ballotb(i1 noundef zeroext %33) #9, !dbg !161
  store i32 %34, ptr %10, align 4, !dbg !162, !tbaa !9
  %35 = load ptr, ptr %5, align 8, !dbg !163, !tbaa !141
  %36 = load i32, ptr %9, align 4, !dbg !164, !tbaa !9
  %37 = sext i32 %36 to i64, !dbg !163
  %38 = getelementptr inbounds i8, ptr %35, i64 %37, !dbg !163
  %39 = load i8, ptr %38, align 1, !dbg !163, !tbaa !159
  %40 = zext i8 %39 to i64, !dbg !165
  %41 = getelementptr inbounds nuw [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ9histogramPKhPjPyiE5local to ptr), i64 0, i64 %40, !dbg !165
  store i32 1, ptr %11, align 4, !dbg !166, !tbaa !9
  %42 = load i32, ptr %11, align 4, !dbg !166
  %43 = atomicrmw add ptr %41, i32 %42 monotonic, align 4, !dbg !166
  store i32 %43, ptr %12, align 4, !dbg !166
  %44 = load i32, ptr %12, align 4, !dbg !166, !tbaa !9
  %45 = load i32, ptr %10, align 4, !dbg !167, !tbaa !9
  %46 = call noundef i32 @_ZL9lane_maskv() #9, !dbg !168
  %47 = and i32 %45, %46, !dbg !169
  %48 = call i32 @llvm.ctpop.i32(i32 %47), !dbg !170
  %49 = icmp eq i32 %48, 0, !dbg !171
  br i1 %49, label %50, label %57, !dbg !171

50:                                               ; preds = %26
  %51 = load ptr, ptr %7, align 8, !dbg !172, !tbaa !143
  %52 = load i32, ptr %9, align 4, !dbg !173, !tbaa !9
  %53 = sext i32 %52 to i64, !dbg !173
  store i64 %53, ptr %13, align 8, !dbg !174, !tbaa !175
  %54 = load i64, ptr %13, align 8, !dbg !174
  %55 = atomicrmw umax ptr %51, i64 %54 monotonic, align 8, !dbg !174
  store i64 %55, ptr %14, align 8, !dbg !174
  %56 = load i64, ptr %14, align 8, !dbg !174, !tbaa !175
  br label %57, !dbg !174

57:                                               ; preds = %50, %26
  call void @llvm.lifetime.end.p0(ptr %10) #8, !dbg !177
  br label %58, !dbg !177

58:                                               ; preds = %57
  %59 = call noundef i32 @_ZL7threadsv() #9, !dbg !178
  %60 = load i32, ptr %9, align 4, !dbg !179, !tbaa !9
  %61 = add nsw i32 %60, %59, !dbg !179
  store i32 %61, ptr %9, align 4, !dbg !179, !tbaa !9
  br label %21, !dbg !155, !llvm.loop !180

62:                                               ; preds = %25
  call void @_ZL7barrierv() #9, !dbg !181
  %63 = load ptr, ptr %6, align 8, !dbg !182, !tbaa !125
  %64 = call noundef i32 @_ZL6threadv() #9, !dbg !183
  %65 = sext i32 %64 to i64, !dbg !182
  %66 = getelementptr inbounds i32, ptr %63, i64 %65, !dbg !182
  %67 = call noundef i32 @_ZL6threadv() #9, !dbg !184
  %68 = sext i32 %67 to i64, !dbg !185
  %69 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ9histogramPKhPjPyiE5local to ptr), i64 0, i64 %68, !dbg !185
  %70 = load i32, ptr %69, align 4, !dbg !185, !tbaa !9
  store i32 %70, ptr %15, align 4, !dbg !186, !tbaa !9
  %71 = load i32, ptr %15, align 4, !dbg !186
  %72 = atomicrmw xor ptr %66, i32 %71 acq_rel, align 4, !dbg !186
  store i32 %72, ptr %16, align 4, !dbg !186
  %73 = load i32, ptr %16, align 4, !dbg !186, !tbaa !9
  ret void, !dbg !187
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL6ballotb(i1 noundef zeroext %0) #2 !dbg !188 {
  %2 = alloca i8, align 1
  %3 = zext i1 %0 to i8
  store i8 %3, ptr %2, align 1, !tbaa !92
  %4 = load i8, ptr %2, align 1, !dbg !189, !tbaa !92, !range !98, !noundef !15
  %5 = trunc i8 %4 to i1, !dbg !189
  %6 = call i32 @llvm.nvvm.vote.ballot.sync(i32 -1, i1 %5), !dbg !190
  ret i32 %6, !dbg !191
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL9lane_maskv() #2 !dbg !192 {
  %1 = alloca i32, align 4
  call void @llvm.lifetime.start.p0(ptr %1) #8, !dbg !193
  %2 = call i32 asm sideeffect "mov.u32 $0, %lanemask_lt;", "=r"() #9, !dbg !194, !srcloc !195
  store i32 %2, ptr %1, align 4, !dbg !194, !tbaa !9
  %3 = load i32, ptr %1, align 4, !dbg !196, !tbaa !9
  call void @llvm.lifetime.end.p0(ptr %1) #8, !dbg !197
  ret i32 %3, !dbg !198
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.ctpop.i32(i32) #4

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4lockPiPViPfPd(ptr noundef %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) #3 !dbg !199 {
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca ptr, align 8
  %8 = alloca ptr, align 8
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i8, align 1
  %12 = alloca i32, align 4
  %13 = alloca i32, align 4
  %14 = alloca float, align 4
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  store ptr %0, ptr %5, align 8, !tbaa !125
  store ptr %1, ptr %6, align 8, !tbaa !125
  store ptr %2, ptr %7, align 8, !tbaa !41
  store ptr %3, ptr %8, align 8, !tbaa !132
  call void @llvm.lifetime.start.p0(ptr %9) #8, !dbg !200
  store i32 0, ptr %9, align 4, !dbg !201, !tbaa !9
  br label %17, !dbg !202

17:                                               ; preds = %30, %4
  %18 = load ptr, ptr %5, align 8, !dbg !203, !tbaa !125
  store i32 1, ptr %10, align 4, !dbg !204, !tbaa !9
  %19 = load i32, ptr %9, align 4, !dbg !204
  %20 = load i32, ptr %10, align 4, !dbg !204
  %21 = cmpxchg ptr %18, i32 %19, i32 %20 acquire monotonic, align 4, !dbg !204
  %22 = extractvalue { i32, i1 } %21, 0, !dbg !204
  %23 = extractvalue { i32, i1 } %21, 1, !dbg !204
  br i1 %23, label %25, label %24, !dbg !204

24:                                               ; preds = %17
  store i32 %22, ptr %9, align 4, !dbg !204
  br label %25, !dbg !204

25:                                               ; preds = %24, %17
  %26 = zext i1 %23 to i8, !dbg !204
  store i8 %26, ptr %11, align 1, !dbg !204, !tbaa !92
  %27 = load i8, ptr %11, align 1, !dbg !204, !tbaa !92, !range !98, !noundef !15
  %28 = trunc i8 %27 to i1, !dbg !204
  %29 = xor i1 %28, true, !dbg !205
  br i1 %29, label %30, label %31, !dbg !202

30:                                               ; preds = %25
  store i32 0, ptr %9, align 4, !dbg !206, !tbaa !9
  br label %17, !dbg !202, !llvm.loop !207

31:                                               ; preds = %25
  %32 = load ptr, ptr %7, align 8, !dbg !209, !tbaa !41
  %33 = load float, ptr %32, align 4, !dbg !210, !tbaa !16
  %34 = fadd contract float %33, 1.000000e+00, !dbg !210
  store float %34, ptr %32, align 4, !dbg !210, !tbaa !16
  %35 = load ptr, ptr %6, align 8, !dbg !211, !tbaa !125
  %36 = load volatile i32, ptr %35, align 4, !dbg !212, !tbaa !9
  %37 = add nsw i32 %36, 1, !dbg !213
  %38 = load ptr, ptr %6, align 8, !dbg !214, !tbaa !125
  store volatile i32 %37, ptr %38, align 4, !dbg !215, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %12) #8, !dbg !216
  call void @llvm.lifetime.start.p0(ptr %13) #8, !dbg !217
  store i32 1, ptr %13, align 4, !dbg !218, !tbaa !9
  %39 = load ptr, ptr %5, align 8, !dbg !219, !tbaa !125
  %40 = load i32, ptr %13, align 4, !dbg !220
  %41 = atomicrmw xchg ptr %39, i32 %40 release, align 4, !dbg !220
  store i32 %41, ptr %12, align 4, !dbg !220
  call void @llvm.lifetime.start.p0(ptr %14) #8, !dbg !221
  %42 = load ptr, ptr %7, align 8, !dbg !222, !tbaa !41
  %43 = load float, ptr %42, align 4, !dbg !223, !tbaa !16
  %44 = call contract float asm "{ .reg .f32 t; mul.f32 t, $1, $1; add.f32 $0, t, $1; }", "=f,f"(float %43) #10, !dbg !224, !srcloc !225
  store float %44, ptr %14, align 4, !dbg !224, !tbaa !16
  %45 = load ptr, ptr %8, align 8, !dbg !226, !tbaa !132
  %46 = load double, ptr %45, align 8, !dbg !227, !tbaa !134
  %47 = call contract double @llvm.sqrt.f64(double %46), !dbg !228
  %48 = load float, ptr %14, align 4, !dbg !229, !tbaa !16
  %49 = fpext contract float %48 to double, !dbg !229
  %50 = fadd contract double %47, %49, !dbg !230
  %51 = load ptr, ptr %8, align 8, !dbg !231, !tbaa !132
  store double %50, ptr %51, align 8, !dbg !232, !tbaa !134
  call void @llvm.lifetime.start.p0(ptr %15) #8, !dbg !233
  call void @llvm.lifetime.start.p0(ptr %16) #8, !dbg !233
  %52 = load ptr, ptr %8, align 8, !dbg !234, !tbaa !132
  %53 = load double, ptr %52, align 8, !dbg !235, !tbaa !134
  %54 = call { i32, i32 } asm sideeffect "mov.b64 {$0, $1}, $2; // \22odd\22, !dbg text", "=r,=r,d,~{memory}"(double %53) #9, !dbg !236, !srcloc !237
  %55 = extractvalue { i32, i32 } %54, 0, !dbg !236
  %56 = extractvalue { i32, i32 } %54, 1, !dbg !236
  store i32 %55, ptr %15, align 4, !dbg !236, !tbaa !9
  store i32 %56, ptr %16, align 4, !dbg !236, !tbaa !9
  %57 = load i32, ptr %15, align 4, !dbg !238, !tbaa !9
  %58 = load i32, ptr %16, align 4, !dbg !239, !tbaa !9
  %59 = xor i32 %57, %58, !dbg !240
  %60 = load ptr, ptr %6, align 8, !dbg !241, !tbaa !125
  %61 = getelementptr inbounds i32, ptr %60, i64 1, !dbg !241
  store volatile i32 %59, ptr %61, align 4, !dbg !242, !tbaa !9
  call void @llvm.lifetime.end.p0(ptr %16) #8, !dbg !243
  call void @llvm.lifetime.end.p0(ptr %15) #8, !dbg !243
  call void @llvm.lifetime.end.p0(ptr %14) #8, !dbg !243
  call void @llvm.lifetime.end.p0(ptr %13) #8, !dbg !243
  call void @llvm.lifetime.end.p0(ptr %12) #8, !dbg !243
  call void @llvm.lifetime.end.p0(ptr %9) #8, !dbg !243
  ret void, !dbg !243
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.sqrt.f64(double) #4

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare float @llvm.nvvm.shfl.sync.down.f32(i32, float, i32, i32) #5

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #6

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #7

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #6

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #6

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare i32 @llvm.nvvm.vote.ballot.sync(i32, i1) #5

attributes #0 = { convergent mustprogress noinline nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #3 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" "uniform-work-group-size"="true" }
attributes #4 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #5 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #6 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #7 = { convergent nocallback nounwind }
attributes #8 = { nounwind }
attributes #9 = { convergent nounwind }
attributes #10 = { convergent nounwind memory(none) }

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
!7 = !DIFile(filename: "reduce.cu", directory: ".")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "warp_sum", scope: !7, file: !7, line: 6, type: !14, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"float", !11, i64 0}
!18 = !DILocation(line: 7, column: 8, scope: !13)
!19 = !DILocation(line: 7, column: 12, scope: !13)
!20 = !DILocation(line: 7, column: 21, scope: !13)
!21 = !DILocation(line: 7, column: 24, scope: !13)
!22 = !DILocation(line: 7, column: 3, scope: !13)
!23 = !DILocation(line: 7, column: 57, scope: !13)
!24 = !DILocation(line: 7, column: 60, scope: !13)
!25 = !DILocation(line: 7, column: 44, scope: !13)
!26 = !DILocation(line: 7, column: 41, scope: !13)
!27 = !DILocation(line: 7, column: 39, scope: !13)
!28 = !DILocation(line: 7, column: 32, scope: !13)
!29 = distinct !{!29, !22, !30, !31}
!30 = !DILocation(line: 7, column: 62, scope: !13)
!31 = !{!"llvm.loop.mustprogress"}
!32 = !DILocation(line: 8, column: 10, scope: !13)
!33 = !DILocation(line: 8, column: 3, scope: !13)
!34 = distinct !DISubprogram(name: "shuffle_down", scope: !35, file: !35, line: 18, type: !14, scopeLine: 18, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!35 = !DIFile(filename: "./device.h", directory: ".")
!36 = !DILocation(line: 18, column: 92, scope: !34)
!37 = !DILocation(line: 18, column: 95, scope: !34)
!38 = !DILocation(line: 18, column: 53, scope: !34)
!39 = !DILocation(line: 18, column: 46, scope: !34)
!40 = distinct !DISubprogram(name: "sum", scope: !7, file: !7, line: 11, type: !14, scopeLine: 11, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!41 = !{!42, !42, i64 0}
!42 = !{!"p1 float", !43, i64 0}
!43 = !{!"any pointer", !11, i64 0}
!44 = !DILocation(line: 14, column: 3, scope: !40)
!45 = !DILocation(line: 14, column: 9, scope: !40)
!46 = !DILocation(line: 15, column: 8, scope: !40)
!47 = !DILocation(line: 15, column: 16, scope: !40)
!48 = !DILocation(line: 15, column: 12, scope: !40)
!49 = !DILocation(line: 15, column: 28, scope: !40)
!50 = !DILocation(line: 15, column: 32, scope: !40)
!51 = !DILocation(line: 15, column: 30, scope: !40)
!52 = !DILocation(line: 15, column: 3, scope: !40)
!53 = !DILocation(line: 15, column: 51, scope: !40)
!54 = !DILocation(line: 15, column: 54, scope: !40)
!55 = !DILocation(line: 15, column: 48, scope: !40)
!56 = !DILocation(line: 15, column: 46, scope: !40)
!57 = !DILocation(line: 15, column: 37, scope: !40)
!58 = distinct !{!58, !52, !59, !31}
!59 = !DILocation(line: 15, column: 55, scope: !40)
!60 = !DILocation(line: 16, column: 16, scope: !40)
!61 = !DILocation(line: 16, column: 7, scope: !40)
!62 = !DILocation(line: 16, column: 5, scope: !40)
!63 = !DILocation(line: 17, column: 8, scope: !40)
!64 = !DILocation(line: 17, column: 17, scope: !40)
!65 = !DILocation(line: 17, column: 23, scope: !40)
!66 = !DILocation(line: 17, column: 52, scope: !40)
!67 = !DILocation(line: 17, column: 35, scope: !40)
!68 = !DILocation(line: 17, column: 44, scope: !40)
!69 = !DILocation(line: 17, column: 29, scope: !40)
!70 = !DILocation(line: 17, column: 50, scope: !40)
!71 = !DILocation(line: 18, column: 3, scope: !40)
!72 = !DILocation(line: 19, column: 7, scope: !40)
!73 = !DILocation(line: 19, column: 16, scope: !40)
!74 = !DILocation(line: 20, column: 18, scope: !40)
!75 = !DILocation(line: 20, column: 29, scope: !40)
!76 = !DILocation(line: 20, column: 39, scope: !40)
!77 = !DILocation(line: 20, column: 27, scope: !40)
!78 = !DILocation(line: 20, column: 52, scope: !40)
!79 = !DILocation(line: 20, column: 46, scope: !40)
!80 = !DILocation(line: 20, column: 9, scope: !40)
!81 = !DILocation(line: 20, column: 7, scope: !40)
!82 = !DILocation(line: 21, column: 9, scope: !40)
!83 = !DILocation(line: 21, column: 18, scope: !40)
!84 = !DILocation(line: 22, column: 22, scope: !40)
!85 = !DILocation(line: 22, column: 7, scope: !40)
!86 = !DILocation(line: 22, column: 11, scope: !40)
!87 = !DILocation(line: 22, column: 20, scope: !40)
!88 = !DILocation(line: 23, column: 7, scope: !40)
!89 = !DILocation(line: 24, column: 14, scope: !40)
!90 = !DILocation(line: 24, column: 40, scope: !40)
!91 = !DILocation(line: 24, column: 12, scope: !40)
!92 = !{!93, !93, i64 0}
!93 = !{!"bool", !11, i64 0}
!94 = !DILocation(line: 25, column: 5, scope: !40)
!95 = !DILocation(line: 26, column: 3, scope: !40)
!96 = !DILocation(line: 27, column: 3, scope: !40)
!97 = !DILocation(line: 28, column: 7, scope: !40)
!98 = !{i8 0, i8 2}
!99 = !DILocation(line: 28, column: 12, scope: !40)
!100 = !DILocation(line: 28, column: 15, scope: !40)
!101 = !DILocation(line: 28, column: 24, scope: !40)
!102 = !DILocation(line: 28, column: 61, scope: !40)
!103 = !DILocation(line: 28, column: 30, scope: !40)
!104 = !DILocation(line: 29, column: 1, scope: !40)
!105 = distinct !DISubprogram(name: "position", scope: !35, file: !35, line: 16, type: !14, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!106 = !DILocation(line: 16, column: 32, scope: !105)
!107 = !DILocation(line: 16, column: 42, scope: !105)
!108 = !DILocation(line: 16, column: 40, scope: !105)
!109 = !DILocation(line: 16, column: 54, scope: !105)
!110 = !DILocation(line: 16, column: 52, scope: !105)
!111 = !DILocation(line: 16, column: 25, scope: !105)
!112 = distinct !DISubprogram(name: "thread", scope: !35, file: !35, line: 13, type: !14, scopeLine: 13, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!113 = !DILocation(line: 13, column: 30, scope: !112)
!114 = !DILocation(line: 13, column: 23, scope: !112)
!115 = distinct !DISubprogram(name: "barrier", scope: !35, file: !35, line: 17, type: !14, scopeLine: 17, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!116 = !DILocation(line: 17, column: 25, scope: !115)
!117 = !DILocation(line: 17, column: 42, scope: !115)
!118 = distinct !DISubprogram(name: "threads", scope: !35, file: !35, line: 15, type: !14, scopeLine: 15, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!119 = !DILocation(line: 15, column: 31, scope: !118)
!120 = !DILocation(line: 15, column: 24, scope: !118)
!121 = distinct !DISubprogram(name: "block", scope: !35, file: !35, line: 14, type: !14, scopeLine: 14, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!122 = !DILocation(line: 14, column: 29, scope: !121)
!123 = !DILocation(line: 14, column: 22, scope: !121)
!124 = distinct !DISubprogram(name: "atomic_add<unsigned int>", scope: !35, file: !35, line: 23, type: !14, scopeLine: 23, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!125 = !{!126, !126, i64 0}
!126 = !{!"p1 int", !43, i64 0}
!127 = !DILocation(line: 24, column: 36, scope: !124)
!128 = !DILocation(line: 24, column: 39, scope: !124)
!129 = !DILocation(line: 24, column: 10, scope: !124)
!130 = !DILocation(line: 24, column: 3, scope: !124)
!131 = distinct !DISubprogram(name: "atomic_add<double>", scope: !35, file: !35, line: 23, type: !14, scopeLine: 23, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!132 = !{!133, !133, i64 0}
!133 = !{!"p1 double", !43, i64 0}
!134 = !{!135, !135, i64 0}
!135 = !{!"double", !11, i64 0}
!136 = !DILocation(line: 24, column: 36, scope: !131)
!137 = !DILocation(line: 24, column: 39, scope: !131)
!138 = !DILocation(line: 24, column: 10, scope: !131)
!139 = !DILocation(line: 24, column: 3, scope: !131)
!140 = distinct !DISubprogram(name: "histogram", scope: !7, file: !7, line: 31, type: !14, scopeLine: 31, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!141 = !{!142, !142, i64 0}
!142 = !{!"p1 omnipotent char", !43, i64 0}
!143 = !{!144, !144, i64 0}
!144 = !{!"p1 long long", !43, i64 0}
!145 = !DILocation(line: 33, column: 9, scope: !140)
!146 = !DILocation(line: 33, column: 3, scope: !140)
!147 = !DILocation(line: 33, column: 19, scope: !140)
!148 = !DILocation(line: 34, column: 3, scope: !140)
!149 = !DILocation(line: 35, column: 8, scope: !140)
!150 = !DILocation(line: 35, column: 16, scope: !140)
!151 = !DILocation(line: 35, column: 12, scope: !140)
!152 = !DILocation(line: 35, column: 28, scope: !140)
!153 = !DILocation(line: 35, column: 32, scope: !140)
!154 = !DILocation(line: 35, column: 30, scope: !140)
!155 = !DILocation(line: 35, column: 3, scope: !140)
!156 = !DILocation(line: 36, column: 5, scope: !140)
!157 = !DILocation(line: 36, column: 24, scope: !140)
!158 = !DILocation(line: 36, column: 30, scope: !140)
!159 = !{!11, !11, i64 0}
!160 = !DILocation(line: 36, column: 33, scope: !140)
!161 = !DILocation(line: 36, column: 17, scope: !140)
!162 = !DILocation(line: 36, column: 10, scope: !140)
!163 = !DILocation(line: 37, column: 38, scope: !140)
!164 = !DILocation(line: 37, column: 44, scope: !140)
!165 = !DILocation(line: 37, column: 32, scope: !140)
!166 = !DILocation(line: 37, column: 5, scope: !140)
!167 = !DILocation(line: 38, column: 28, scope: !140)
!168 = !DILocation(line: 38, column: 35, scope: !140)
!169 = !DILocation(line: 38, column: 33, scope: !140)
!170 = !DILocation(line: 38, column: 9, scope: !140)
!171 = !DILocation(line: 38, column: 48, scope: !140)
!172 = !DILocation(line: 38, column: 80, scope: !140)
!173 = !DILocation(line: 38, column: 95, scope: !140)
!174 = !DILocation(line: 38, column: 54, scope: !140)
!175 = !{!176, !176, i64 0}
!176 = !{!"long long", !11, i64 0}
!177 = !DILocation(line: 39, column: 3, scope: !140)
!178 = !DILocation(line: 35, column: 40, scope: !140)
!179 = !DILocation(line: 35, column: 37, scope: !140)
!180 = distinct !{!180, !155, !177, !31}
!181 = !DILocation(line: 40, column: 3, scope: !140)
!182 = !DILocation(line: 41, column: 30, scope: !140)
!183 = !DILocation(line: 41, column: 35, scope: !140)
!184 = !DILocation(line: 41, column: 52, scope: !140)
!185 = !DILocation(line: 41, column: 46, scope: !140)
!186 = !DILocation(line: 41, column: 3, scope: !140)
!187 = !DILocation(line: 42, column: 1, scope: !140)
!188 = distinct !DISubprogram(name: "ballot", scope: !35, file: !35, line: 19, type: !14, scopeLine: 19, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!189 = !DILocation(line: 19, column: 74, scope: !188)
!190 = !DILocation(line: 19, column: 37, scope: !188)
!191 = !DILocation(line: 19, column: 30, scope: !188)
!192 = distinct !DISubprogram(name: "lane_mask", scope: !35, file: !35, line: 20, type: !14, scopeLine: 20, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!193 = !DILocation(line: 20, column: 26, scope: !192)
!194 = !DILocation(line: 20, column: 33, scope: !192)
!195 = !{i64 38215}
!196 = !DILocation(line: 20, column: 94, scope: !192)
!197 = !DILocation(line: 20, column: 97, scope: !192)
!198 = !DILocation(line: 20, column: 87, scope: !192)
!199 = distinct !DISubprogram(name: "lock", scope: !7, file: !7, line: 44, type: !14, scopeLine: 44, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!200 = !DILocation(line: 45, column: 3, scope: !199)
!201 = !DILocation(line: 45, column: 7, scope: !199)
!202 = !DILocation(line: 46, column: 3, scope: !199)
!203 = !DILocation(line: 46, column: 46, scope: !199)
!204 = !DILocation(line: 46, column: 11, scope: !199)
!205 = !DILocation(line: 46, column: 10, scope: !199)
!206 = !DILocation(line: 46, column: 135, scope: !199)
!207 = distinct !{!207, !202, !208, !31}
!208 = !DILocation(line: 46, column: 137, scope: !199)
!209 = !DILocation(line: 47, column: 4, scope: !199)
!210 = !DILocation(line: 47, column: 15, scope: !199)
!211 = !DILocation(line: 48, column: 12, scope: !199)
!212 = !DILocation(line: 48, column: 11, scope: !199)
!213 = !DILocation(line: 48, column: 17, scope: !199)
!214 = !DILocation(line: 48, column: 4, scope: !199)
!215 = !DILocation(line: 48, column: 9, scope: !199)
!216 = !DILocation(line: 49, column: 3, scope: !199)
!217 = !DILocation(line: 50, column: 3, scope: !199)
!218 = !DILocation(line: 50, column: 7, scope: !199)
!219 = !DILocation(line: 51, column: 28, scope: !199)
!220 = !DILocation(line: 51, column: 3, scope: !199)
!221 = !DILocation(line: 52, column: 3, scope: !199)
!222 = !DILocation(line: 53, column: 81, scope: !199)
!223 = !DILocation(line: 53, column: 80, scope: !199)
!224 = !DILocation(line: 53, column: 3, scope: !199)
!225 = !{i64 1967}
!226 = !DILocation(line: 54, column: 24, scope: !199)
!227 = !DILocation(line: 54, column: 23, scope: !199)
!228 = !DILocation(line: 54, column: 8, scope: !199)
!229 = !DILocation(line: 54, column: 29, scope: !199)
!230 = !DILocation(line: 54, column: 27, scope: !199)
!231 = !DILocation(line: 54, column: 4, scope: !199)
!232 = !DILocation(line: 54, column: 6, scope: !199)
!233 = !DILocation(line: 55, column: 3, scope: !199)
!234 = !DILocation(line: 56, column: 90, scope: !199)
!235 = !DILocation(line: 56, column: 89, scope: !199)
!236 = !DILocation(line: 56, column: 3, scope: !199)
!237 = !{i64 2116}
!238 = !DILocation(line: 57, column: 13, scope: !199)
!239 = !DILocation(line: 57, column: 18, scope: !199)
!240 = !DILocation(line: 57, column: 16, scope: !199)
!241 = !DILocation(line: 57, column: 3, scope: !199)
!242 = !DILocation(line: 57, column: 11, scope: !199)
!243 = !DILocation(line: 58, column: 1, scope: !199)
