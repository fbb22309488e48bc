; ModuleID = 'control.cu'
source_filename = "control.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: convergent mustprogress noinline nounwind
define dso_local noundef i32 @_Z8classifyi(i32 noundef %0) #0 !dbg !13 {
  %2 = alloca i32, align 4
  %3 = alloca i32, align 4
  store i32 %0, ptr %3, align 4, !tbaa !9
  %4 = load i32, ptr %3, align 4, !dbg !16, !tbaa !9
  switch i32 %4, label %15 [
    i32 0, label %5
    i32 3, label %6
    i32 4, label %6
    i32 7, label %9
    i32 8, label %12
    i32 1000000, label %14
  ], !dbg !17

5:                                                ; preds = %1
  store i32 5, ptr %2, align 4, !dbg !18
  br label %24, !dbg !18

6:                                                ; preds = %1, %1
  %7 = load i32, ptr %3, align 4, !dbg !19, !tbaa !9
  %8 = mul nsw i32 %7, 3, !dbg !20
  store i32 %8, ptr %2, align 4, !dbg !21
  br label %24, !dbg !21

9:                                                ; preds = %1
  %10 = load i32, ptr %3, align 4, !dbg !22, !tbaa !9
  %11 = add nsw i32 %10, 2, !dbg !22
  store i32 %11, ptr %3, align 4, !dbg !22, !tbaa !9
  br label %12, !dbg !23

12:                                               ; preds = %1, %9
  %13 = load i32, ptr %3, align 4, !dbg !24, !tbaa !9
  store i32 %13, ptr %2, align 4, !dbg !25
  br label %24, !dbg !25

14:                                               ; preds = %1
  store i32 -1, ptr %2, align 4, !dbg !26
  br label %24, !dbg !26

15:                                               ; preds = %1
  %16 = load i32, ptr %3, align 4, !dbg !27, !tbaa !9
  %17 = icmp slt i32 %16, 0, !dbg !28
  br i1 %17, label %18, label %21, !dbg !27

18:                                               ; preds = %15
  %19 = load i32, ptr %3, align 4, !dbg !29, !tbaa !9
  %20 = sub nsw i32 0, %19, !dbg !30
  br label %22, !dbg !27

21:                                               ; preds = %15
  br label %22, !dbg !27

22:                                               ; preds = %21, %18
  %23 = phi i32 [ %20, %18 ], [ 77, %21 ], !dbg !27
  store i32 %23, ptr %2, align 4, !dbg !31
  br label %24, !dbg !31

24:                                               ; preds = %22, %14, %12, %6, %5
  %25 = load i32, ptr %2, align 4, !dbg !32
  ret i32 %25, !dbg !32
}

; Function Attrs: convergent mustprogress nounwind
define dso_local noundef i32 @_Z5depthi(i32 noundef %0) #1 !dbg !33 {
  %2 = alloca i32, align 4
  store i32 %0, ptr %2, align 4, !tbaa !9
  %3 = load i32, ptr %2, align 4, !dbg !34, !tbaa !9
  %4 = icmp sle i32 %3, 1, !dbg !35
  br i1 %4, label %5, label %6, !dbg !34

5:                                                ; preds = %1
  br label %14, !dbg !34

6:                                                ; preds = %1
  %7 = load i32, ptr %2, align 4, !dbg !36, !tbaa !9
  %8 = sdiv i32 %7, 2, !dbg !37
  %9 = call noundef i32 @_Z5depthi(i32 noundef %8) #7, !dbg !38
  %10 = load i32, ptr %2, align 4, !dbg !39, !tbaa !9
  %11 = sub nsw i32 %10, 2, !dbg !40
  %12 = call noundef i32 @_Z5depthi(i32 noundef %11) #7, !dbg !41
  %13 = add nsw i32 %9, %12, !dbg !42
  br label %14, !dbg !34

14:                                               ; preds = %6, %5
  %15 = phi i32 [ 1, %5 ], [ %13, %6 ], !dbg !34
  ret i32 %15, !dbg !43
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z6nestedPfiPi(ptr noundef %0, i32 noundef %1, ptr noundef %2) #2 !dbg !44 {
  %4 = alloca ptr, align 8
  %5 = alloca i32, align 4
  %6 = alloca ptr, align 8
  %7 = alloca [8 x i32], align 4
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  store ptr %0, ptr %4, align 8, !tbaa !45
  store i32 %1, ptr %5, align 4, !tbaa !9
  store ptr %2, ptr %6, align 8, !tbaa !48
  call void @llvm.lifetime.start.p0(ptr %7) #8, !dbg !50
  call void @llvm.memset.p0.i64(ptr align 4 %7, i8 0, i64 32, i1 false), !dbg !51
  call void @llvm.lifetime.start.p0(ptr %8) #8, !dbg !52
  store i32 0, ptr %8, align 4, !dbg !53, !tbaa !9
  br label %12, !dbg !52

12:                                               ; preds = %73, %3
  %13 = load i32, ptr %8, align 4, !dbg !54, !tbaa !9
  %14 = load i32, ptr %5, align 4, !dbg !55, !tbaa !9
  %15 = icmp slt i32 %13, %14, !dbg !56
  br i1 %15, label %17, label %16, !dbg !57

16:                                               ; preds = %12
  store i32 2, ptr %9, align 4
  call void @llvm.lifetime.end.p0(ptr %8) #8, !dbg !57
  br label %76

17:                                               ; preds = %12
  call void @llvm.lifetime.start.p0(ptr %10) #8, !dbg !58
  store i32 0, ptr %10, align 4, !dbg !59, !tbaa !9
  br label %18, !dbg !58

18:                                               ; preds = %53, %17
  %19 = load i32, ptr %10, align 4, !dbg !60, !tbaa !9
  %20 = load i32, ptr %5, align 4, !dbg !61, !tbaa !9
  %21 = icmp slt i32 %19, %20, !dbg !62
  br i1 %21, label %23, label %22, !dbg !63

22:                                               ; preds = %18
  store i32 5, ptr %9, align 4
  br label %56, !dbg !63

23:                                               ; preds = %18
  %24 = load ptr, ptr %4, align 8, !dbg !64, !tbaa !45
  %25 = load i32, ptr %8, align 4, !dbg !65, !tbaa !9
  %26 = load i32, ptr %5, align 4, !dbg !66, !tbaa !9
  %27 = mul nsw i32 %25, %26, !dbg !67
  %28 = load i32, ptr %10, align 4, !dbg !68, !tbaa !9
  %29 = add nsw i32 %27, %28, !dbg !69
  %30 = sext i32 %29 to i64, !dbg !64
  %31 = getelementptr inbounds float, ptr %24, i64 %30, !dbg !64
  %32 = load float, ptr %31, align 4, !dbg !64, !tbaa !70
  %33 = fcmp contract olt float %32, 0.000000e+00, !dbg !72
  br i1 %33, label %34, label %35, !dbg !72

34:                                               ; preds = %23
  br label %53, !dbg !73

35:                                               ; preds = %23
  %36 = load ptr, ptr %4, align 8, !dbg !74, !tbaa !45
  %37 = load i32, ptr %10, align 4, !dbg !75, !tbaa !9
  %38 = sext i32 %37 to i64, !dbg !74
  %39 = getelementptr inbounds float, ptr %36, i64 %38, !dbg !74
  %40 = load float, ptr %39, align 4, !dbg !74, !tbaa !70
  %41 = fcmp contract ogt float %40, 1.000000e+02, !dbg !76
  br i1 %41, label %42, label %43, !dbg !76

42:                                               ; preds = %35
  store i32 5, ptr %9, align 4
  br label %56, !dbg !77

43:                                               ; preds = %35
  %44 = load i32, ptr %10, align 4, !dbg !78, !tbaa !9
  %45 = load i32, ptr %8, align 4, !dbg !79, !tbaa !9
  %46 = load i32, ptr %10, align 4, !dbg !80, !tbaa !9
  %47 = add nsw i32 %45, %46, !dbg !81
  %48 = and i32 %47, 7, !dbg !82
  %49 = sext i32 %48 to i64, !dbg !83
  %50 = getelementptr inbounds [8 x i32], ptr %7, i64 0, i64 %49, !dbg !83
  %51 = load i32, ptr %50, align 4, !dbg !84, !tbaa !9
  %52 = add nsw i32 %51, %44, !dbg !84
  store i32 %52, ptr %50, align 4, !dbg !84, !tbaa !9
  br label %53, !dbg !85

53:                                               ; preds = %43, %34
  %54 = load i32, ptr %10, align 4, !dbg !86, !tbaa !9
  %55 = add nsw i32 %54, 1, !dbg !86
  store i32 %55, ptr %10, align 4, !dbg !86, !tbaa !9
  br label %18, !dbg !63, !llvm.loop !87

56:                                               ; preds = %42, %22
  call void @llvm.lifetime.end.p0(ptr %10) #8, !dbg !63
  br label %57

57:                                               ; preds = %56
  br label %58, !dbg !89

58:                                               ; preds = %65, %57
  %59 = load ptr, ptr %4, align 8, !dbg !90, !tbaa !45
  %60 = load i32, ptr %8, align 4, !dbg !91, !tbaa !9
  %61 = sext i32 %60 to i64, !dbg !90
  %62 = getelementptr inbounds float, ptr %59, i64 %61, !dbg !90
  %63 = load float, ptr %62, align 4, !dbg !92, !tbaa !70
  %64 = fmul contract float %63, 5.000000e-01, !dbg !92
  store float %64, ptr %62, align 4, !dbg !92, !tbaa !70
  br label %65, !dbg !93

65:                                               ; preds = %58
  %66 = load ptr, ptr %4, align 8, !dbg !94, !tbaa !45
  %67 = load i32, ptr %8, align 4, !dbg !95, !tbaa !9
  %68 = sext i32 %67 to i64, !dbg !94
  %69 = getelementptr inbounds float, ptr %66, i64 %68, !dbg !94
  %70 = load float, ptr %69, align 4, !dbg !94, !tbaa !70
  %71 = fcmp contract ogt float %70, 1.000000e+00, !dbg !96
  br i1 %71, label %58, label %72, !dbg !93, !llvm.loop !97

72:                                               ; preds = %65
  br label %73, !dbg !99

73:                                               ; preds = %72
  %74 = load i32, ptr %8, align 4, !dbg !100, !tbaa !9
  %75 = add nsw i32 %74, 1, !dbg !100
  store i32 %75, ptr %8, align 4, !dbg !100, !tbaa !9
  br label %12, !dbg !57, !llvm.loop !101

76:                                               ; preds = %16
  call void @llvm.lifetime.start.p0(ptr %11) #8, !dbg !102
  store i32 0, ptr %11, align 4, !dbg !103, !tbaa !9
  br label %77, !dbg !102

77:                                               ; preds = %100, %76
  %78 = load i32, ptr %11, align 4, !dbg !104, !tbaa !9
  %79 = icmp slt i32 %78, 8, !dbg !105
  br i1 %79, label %81, label %80, !dbg !106

80:                                               ; preds = %77
  store i32 10, ptr %9, align 4
  call void @llvm.lifetime.end.p0(ptr %11) #8, !dbg !106
  br label %103

81:                                               ; preds = %77
  %82 = load i32, ptr %11, align 4, !dbg !107, !tbaa !9
  %83 = sext i32 %82 to i64, !dbg !108
  %84 = getelementptr inbounds [8 x i32], ptr %7, i64 0, i64 %83, !dbg !108
  %85 = load i32, ptr %84, align 4, !dbg !108, !tbaa !9
  %86 = load ptr, ptr %6, align 8, !dbg !109, !tbaa !48
  %87 = load i32, ptr %11, align 4, !dbg !110, !tbaa !9
  %88 = add nsw i32 %87, 8, !dbg !111
  %89 = sext i32 %88 to i64, !dbg !109
  %90 = getelementptr inbounds i32, ptr %86, i64 %89, !dbg !109
  %91 = load i32, ptr %90, align 4, !dbg !109, !tbaa !9
  %92 = call noundef i32 @_Z8classifyi(i32 noundef %91) #7, !dbg !112
  %93 = add nsw i32 %85, %92, !dbg !113
  %94 = load ptr, ptr %6, align 8, !dbg !114, !tbaa !48
  %95 = load i32, ptr %11, align 4, !dbg !115, !tbaa !9
  %96 = sext i32 %95 to i64, !dbg !114
  %97 = getelementptr inbounds i32, ptr %94, i64 %96, !dbg !114
  %98 = load i32, ptr %97, align 4, !dbg !116, !tbaa !9
  %99 = add nsw i32 %98, %93, !dbg !116
  store i32 %99, ptr %97, align 4, !dbg !116, !tbaa !9
  br label %100, !dbg !114

100:                                              ; preds = %81
  %101 = load i32, ptr %11, align 4, !dbg !117, !tbaa !9
  %102 = add nsw i32 %101, 1, !dbg !117
  store i32 %102, ptr %11, align 4, !dbg !117, !tbaa !9
  br label %77, !dbg !106, !llvm.loop !118

103:                                              ; preds = %80
  %104 = load ptr, ptr %6, align 8, !dbg !121, !tbaa !48
  %105 = getelementptr inbounds i32, ptr %104, i64 10, !dbg !121
  %106 = load i32, ptr %105, align 4, !dbg !121, !tbaa !9
  %107 = call noundef i32 @_Z5depthi(i32 noundef %106) #7, !dbg !122
  %108 = load ptr, ptr %6, align 8, !dbg !123, !tbaa !48
  %109 = getelementptr inbounds i32, ptr %108, i64 9, !dbg !123
  store i32 %107, ptr %109, align 4, !dbg !124, !tbaa !9
  call void @llvm.lifetime.end.p0(ptr %7) #8, !dbg !125
  ret void, !dbg !125
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #3

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #4

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #3

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z11two_entriesPiib(ptr noundef %0, i32 noundef %1, i1 noundef zeroext %2) #2 !dbg !126 {
  %4 = alloca ptr, align 8
  %5 = alloca i32, align 4
  %6 = alloca i8, align 1
  %7 = alloca i32, align 4
  store ptr %0, ptr %4, align 8, !tbaa !48
  store i32 %1, ptr %5, align 4, !tbaa !9
  %8 = zext i1 %2 to i8
  store i8 %8, ptr %6, align 1, !tbaa !127
  call void @llvm.lifetime.start.p0(ptr %7) #8, !dbg !129
  store i32 0, ptr %7, align 4, !dbg !130, !tbaa !9
  %9 = load i8, ptr %6, align 1, !dbg !131, !tbaa !127, !range !132, !noundef !15
  %10 = trunc i8 %9 to i1, !dbg !131
  br i1 %10, label %11, label %12, !dbg !131

11:                                               ; preds = %3
  br label %29, !dbg !133

12:                                               ; preds = %3
  br label %13, !dbg !131

13:                                               ; preds = %41, %12
  %14 = load ptr, ptr %4, align 8, !dbg !134, !tbaa !48
  %15 = load i32, ptr %7, align 4, !dbg !135, !tbaa !9
  %16 = sext i32 %15 to i64, !dbg !134
  %17 = getelementptr inbounds i32, ptr %14, i64 %16, !dbg !134
  %18 = load i32, ptr %17, align 4, !dbg !136, !tbaa !9
  %19 = add nsw i32 %18, 1, !dbg !136
  store i32 %19, ptr %17, align 4, !dbg !136, !tbaa !9
  %20 = load ptr, ptr %4, align 8, !dbg !137, !tbaa !48
  %21 = load i32, ptr %7, align 4, !dbg !138, !tbaa !9
  %22 = sext i32 %21 to i64, !dbg !137
  %23 = getelementptr inbounds i32, ptr %20, i64 %22, !dbg !137
  %24 = load i32, ptr %23, align 4, !dbg !137, !tbaa !9
  %25 = load i32, ptr %5, align 4, !dbg !139, !tbaa !9
  %26 = icmp sgt i32 %24, %25, !dbg !140
  br i1 %26, label %27, label %28, !dbg !140

27:                                               ; preds = %13
  br label %43, !dbg !141

28:                                               ; preds = %13
  br label %29, !dbg !139

29:                                               ; preds = %28, %11
  %30 = load ptr, ptr %4, align 8, !dbg !142, !tbaa !48
  %31 = load i32, ptr %7, align 4, !dbg !143, !tbaa !9
  %32 = sext i32 %31 to i64, !dbg !142
  %33 = getelementptr inbounds i32, ptr %30, i64 %32, !dbg !142
  %34 = load i32, ptr %33, align 4, !dbg !142, !tbaa !9
  %35 = and i32 %34, 3, !dbg !144
  %36 = load i32, ptr %7, align 4, !dbg !145, !tbaa !9
  %37 = add nsw i32 %36, %35, !dbg !145
  store i32 %37, ptr %7, align 4, !dbg !145, !tbaa !9
  %38 = load i32, ptr %7, align 4, !dbg !146, !tbaa !9
  %39 = load i32, ptr %5, align 4, !dbg !147, !tbaa !9
  %40 = icmp slt i32 %38, %39, !dbg !148
  br i1 %40, label %41, label %42, !dbg !148

41:                                               ; preds = %29
  br label %13, !dbg !149

42:                                               ; preds = %29
  br label %43, !dbg !147

43:                                               ; preds = %42, %27
  %44 = load i32, ptr %7, align 4, !dbg !150, !tbaa !9
  %45 = load ptr, ptr %4, align 8, !dbg !151, !tbaa !48
  %46 = getelementptr inbounds i32, ptr %45, i64 0, !dbg !151
  store i32 %44, ptr %46, align 4, !dbg !152, !tbaa !9
  call void @llvm.lifetime.end.p0(ptr %7) #8, !dbg !153
  ret void, !dbg !153
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4endsPilt(ptr noundef %0, i64 noundef %1, i16 noundef zeroext %2) #2 !dbg !154 {
  %4 = alloca ptr, align 8
  %5 = alloca i64, align 8
  %6 = alloca i16, align 2
  %7 = alloca i64, align 8
  %8 = alloca i32, align 4
  %9 = alloca i32, align 4
  store ptr %0, ptr %4, align 8, !tbaa !48
  store i64 %1, ptr %5, align 8, !tbaa !155
  store i16 %2, ptr %6, align 2, !tbaa !157
  %10 = load ptr, ptr %4, align 8, !dbg !159, !tbaa !48
  %11 = load i32, ptr %10, align 4, !dbg !160, !tbaa !9
  %12 = icmp eq i32 %11, 0, !dbg !161
  br i1 %12, label %13, label %14, !dbg !161

13:                                               ; preds = %3
  call void @llvm.nvvm.exit(), !dbg !162
  br label %14, !dbg !162

14:                                               ; preds = %13, %3
  %15 = load ptr, ptr %4, align 8, !dbg !163, !tbaa !48
  %16 = load i32, ptr %15, align 4, !dbg !164, !tbaa !9
  %17 = icmp eq i32 %16, 1, !dbg !165
  br i1 %17, label %18, label %19, !dbg !165

18:                                               ; preds = %14
  call void @llvm.trap(), !dbg !166
  br label %19, !dbg !166

19:                                               ; preds = %18, %14
  br label %20, !dbg !167

20:                                               ; preds = %19, %67
  call void @llvm.lifetime.start.p0(ptr %7) #8, !dbg !168
  %21 = load i64, ptr %5, align 8, !dbg !169, !tbaa !155
  %22 = load ptr, ptr %4, align 8, !dbg !170, !tbaa !48
  %23 = load i32, ptr %22, align 4, !dbg !171, !tbaa !9
  %24 = or i32 %23, 1, !dbg !172
  %25 = sext i32 %24 to i64, !dbg !173
  %26 = sdiv i64 %21, %25, !dbg !174
  store i64 %26, ptr %7, align 8, !dbg !175, !tbaa !155
  call void @llvm.lifetime.start.p0(ptr %8) #8, !dbg !176
  %27 = load i64, ptr %5, align 8, !dbg !177, !tbaa !155
  %28 = trunc i64 %27 to i32, !dbg !177
  %29 = load i16, ptr %6, align 2, !dbg !178, !tbaa !157
  %30 = zext i16 %29 to i32, !dbg !178
  %31 = add i32 %30, 1, !dbg !179
  %32 = urem i32 %28, %31, !dbg !180
  store i32 %32, ptr %8, align 4, !dbg !181, !tbaa !9
  %33 = load i64, ptr %7, align 8, !dbg !182, !tbaa !155
  %34 = icmp eq i64 %33, 5, !dbg !183
  br i1 %34, label %38, label %35, !dbg !184

35:                                               ; preds = %20
  %36 = load i32, ptr %8, align 4, !dbg !185, !tbaa !9
  %37 = icmp eq i32 %36, 9, !dbg !186
  br i1 %37, label %38, label %48, !dbg !184

38:                                               ; preds = %35, %20
  %39 = load i64, ptr %7, align 8, !dbg !187, !tbaa !155
  %40 = load i16, ptr %6, align 2, !dbg !188, !tbaa !157
  %41 = zext i16 %40 to i32, !dbg !188
  %42 = and i32 %41, 31, !dbg !189
  %43 = zext i32 %42 to i64, !dbg !190
  %44 = shl i64 %39, %43, !dbg !190
  %45 = trunc i64 %44 to i32, !dbg !191
  %46 = load ptr, ptr %4, align 8, !dbg !192, !tbaa !48
  %47 = getelementptr inbounds i32, ptr %46, i64 1, !dbg !192
  store i32 %45, ptr %47, align 4, !dbg !193, !tbaa !9
  store i32 1, ptr %9, align 4
  br label %65, !dbg !194

48:                                               ; preds = %35
  %49 = load i16, ptr %6, align 2, !dbg !195, !tbaa !157
  %50 = zext i16 %49 to i32, !dbg !195
  %51 = and i32 %50, 3, !dbg !196
  switch i32 %51, label %58 [
    i32 0, label %52
    i32 1, label %55
  ], !dbg !197

52:                                               ; preds = %48
  %53 = load i64, ptr %5, align 8, !dbg !198, !tbaa !155
  %54 = sub nsw i64 %53, 3, !dbg !198
  store i64 %54, ptr %5, align 8, !dbg !198, !tbaa !155
  br label %61, !dbg !199

55:                                               ; preds = %48
  %56 = load i64, ptr %5, align 8, !dbg !200, !tbaa !155
  %57 = xor i64 %56, 9, !dbg !200
  store i64 %57, ptr %5, align 8, !dbg !200, !tbaa !155
  br label %61, !dbg !201

58:                                               ; preds = %48
  %59 = load i64, ptr %5, align 8, !dbg !202, !tbaa !155
  %60 = ashr i64 %59, 1, !dbg !202
  store i64 %60, ptr %5, align 8, !dbg !202, !tbaa !155
  br label %61, !dbg !203

61:                                               ; preds = %58, %55, %52
  %62 = load i64, ptr %5, align 8, !dbg !204, !tbaa !155
  %63 = trunc i64 %62 to i32, !dbg !204
  %64 = load ptr, ptr %4, align 8, !dbg !205, !tbaa !48
  store i32 %63, ptr %64, align 4, !dbg !206, !tbaa !9
  store i32 0, ptr %9, align 4, !dbg !207
  br label %65, !dbg !207

65:                                               ; preds = %61, %38
  call void @llvm.lifetime.end.p0(ptr %8) #8, !dbg !207
  call void @llvm.lifetime.end.p0(ptr %7) #8, !dbg !207
  %66 = load i32, ptr %9, align 4
  switch i32 %66, label %69 [
    i32 0, label %67
    i32 1, label %68
  ]

67:                                               ; preds = %65
  br label %20, !dbg !167, !llvm.loop !208

68:                                               ; preds = %65
  ret void, !dbg !209

69:                                               ; preds = %65
  unreachable
}

; Function Attrs: convergent noreturn nounwind memory(inaccessiblemem: readwrite)
declare void @llvm.nvvm.exit() #5

; Function Attrs: cold noreturn nounwind memory(inaccessiblemem: write)
declare void @llvm.trap() #6

attributes #0 = { convergent mustprogress noinline nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #1 = { convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #2 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" "uniform-work-group-size"="true" }
attributes #3 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #5 = { convergent noreturn nounwind memory(inaccessiblemem: readwrite) }
attributes #6 = { cold noreturn nounwind memory(inaccessiblemem: write) }
attributes #7 = { convergent nounwind }
attributes #8 = { nounwind }

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
!7 = !DIFile(filename: "control.cu", directory: ".")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "classify", scope: !7, file: !7, line: 3, type: !14, scopeLine: 3, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !DILocation(line: 4, column: 11, scope: !13)
!17 = !DILocation(line: 4, column: 3, scope: !13)
!18 = !DILocation(line: 5, column: 13, scope: !13)
!19 = !DILocation(line: 6, column: 28, scope: !13)
!20 = !DILocation(line: 6, column: 30, scope: !13)
!21 = !DILocation(line: 6, column: 21, scope: !13)
!22 = !DILocation(line: 7, column: 15, scope: !13)
!23 = !DILocation(line: 7, column: 13, scope: !13)
!24 = !DILocation(line: 8, column: 20, scope: !13)
!25 = !DILocation(line: 8, column: 13, scope: !13)
!26 = !DILocation(line: 9, column: 19, scope: !13)
!27 = !DILocation(line: 10, column: 21, scope: !13)
!28 = !DILocation(line: 10, column: 23, scope: !13)
!29 = !DILocation(line: 10, column: 30, scope: !13)
!30 = !DILocation(line: 10, column: 29, scope: !13)
!31 = !DILocation(line: 10, column: 14, scope: !13)
!32 = !DILocation(line: 12, column: 1, scope: !13)
!33 = distinct !DISubprogram(name: "depth", scope: !7, file: !7, line: 14, type: !14, scopeLine: 14, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!34 = !DILocation(line: 14, column: 38, scope: !33)
!35 = !DILocation(line: 14, column: 40, scope: !33)
!36 = !DILocation(line: 14, column: 57, scope: !33)
!37 = !DILocation(line: 14, column: 59, scope: !33)
!38 = !DILocation(line: 14, column: 51, scope: !33)
!39 = !DILocation(line: 14, column: 72, scope: !33)
!40 = !DILocation(line: 14, column: 74, scope: !33)
!41 = !DILocation(line: 14, column: 66, scope: !33)
!42 = !DILocation(line: 14, column: 64, scope: !33)
!43 = !DILocation(line: 14, column: 31, scope: !33)
!44 = distinct !DISubprogram(name: "nested", scope: !7, file: !7, line: 16, type: !14, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!45 = !{!46, !46, i64 0}
!46 = !{!"p1 float", !47, i64 0}
!47 = !{!"any pointer", !11, i64 0}
!48 = !{!49, !49, i64 0}
!49 = !{!"p1 int", !47, i64 0}
!50 = !DILocation(line: 17, column: 3, scope: !44)
!51 = !DILocation(line: 17, column: 7, scope: !44)
!52 = !DILocation(line: 18, column: 8, scope: !44)
!53 = !DILocation(line: 18, column: 12, scope: !44)
!54 = !DILocation(line: 18, column: 19, scope: !44)
!55 = !DILocation(line: 18, column: 23, scope: !44)
!56 = !DILocation(line: 18, column: 21, scope: !44)
!57 = !DILocation(line: 18, column: 3, scope: !44)
!58 = !DILocation(line: 19, column: 10, scope: !44)
!59 = !DILocation(line: 19, column: 14, scope: !44)
!60 = !DILocation(line: 19, column: 21, scope: !44)
!61 = !DILocation(line: 19, column: 25, scope: !44)
!62 = !DILocation(line: 19, column: 23, scope: !44)
!63 = !DILocation(line: 19, column: 5, scope: !44)
!64 = !DILocation(line: 20, column: 11, scope: !44)
!65 = !DILocation(line: 20, column: 13, scope: !44)
!66 = !DILocation(line: 20, column: 17, scope: !44)
!67 = !DILocation(line: 20, column: 15, scope: !44)
!68 = !DILocation(line: 20, column: 21, scope: !44)
!69 = !DILocation(line: 20, column: 19, scope: !44)
!70 = !{!71, !71, i64 0}
!71 = !{!"float", !11, i64 0}
!72 = !DILocation(line: 20, column: 24, scope: !44)
!73 = !DILocation(line: 20, column: 29, scope: !44)
!74 = !DILocation(line: 21, column: 11, scope: !44)
!75 = !DILocation(line: 21, column: 13, scope: !44)
!76 = !DILocation(line: 21, column: 16, scope: !44)
!77 = !DILocation(line: 21, column: 25, scope: !44)
!78 = !DILocation(line: 22, column: 30, scope: !44)
!79 = !DILocation(line: 22, column: 15, scope: !44)
!80 = !DILocation(line: 22, column: 19, scope: !44)
!81 = !DILocation(line: 22, column: 17, scope: !44)
!82 = !DILocation(line: 22, column: 22, scope: !44)
!83 = !DILocation(line: 22, column: 7, scope: !44)
!84 = !DILocation(line: 22, column: 27, scope: !44)
!85 = !DILocation(line: 23, column: 5, scope: !44)
!86 = !DILocation(line: 19, column: 28, scope: !44)
!87 = distinct !{!87, !63, !85, !88}
!88 = !{!"llvm.loop.mustprogress"}
!89 = !DILocation(line: 24, column: 5, scope: !44)
!90 = !DILocation(line: 24, column: 10, scope: !44)
!91 = !DILocation(line: 24, column: 12, scope: !44)
!92 = !DILocation(line: 24, column: 15, scope: !44)
!93 = !DILocation(line: 24, column: 24, scope: !44)
!94 = !DILocation(line: 24, column: 33, scope: !44)
!95 = !DILocation(line: 24, column: 35, scope: !44)
!96 = !DILocation(line: 24, column: 38, scope: !44)
!97 = distinct !{!97, !89, !98, !88}
!98 = !DILocation(line: 24, column: 43, scope: !44)
!99 = !DILocation(line: 25, column: 3, scope: !44)
!100 = !DILocation(line: 18, column: 26, scope: !44)
!101 = distinct !{!101, !57, !99, !88}
!102 = !DILocation(line: 27, column: 8, scope: !44)
!103 = !DILocation(line: 27, column: 12, scope: !44)
!104 = !DILocation(line: 27, column: 19, scope: !44)
!105 = !DILocation(line: 27, column: 21, scope: !44)
!106 = !DILocation(line: 27, column: 3, scope: !44)
!107 = !DILocation(line: 27, column: 48, scope: !44)
!108 = !DILocation(line: 27, column: 41, scope: !44)
!109 = !DILocation(line: 27, column: 62, scope: !44)
!110 = !DILocation(line: 27, column: 66, scope: !44)
!111 = !DILocation(line: 27, column: 68, scope: !44)
!112 = !DILocation(line: 27, column: 53, scope: !44)
!113 = !DILocation(line: 27, column: 51, scope: !44)
!114 = !DILocation(line: 27, column: 31, scope: !44)
!115 = !DILocation(line: 27, column: 35, scope: !44)
!116 = !DILocation(line: 27, column: 38, scope: !44)
!117 = !DILocation(line: 27, column: 26, scope: !44)
!118 = distinct !{!118, !106, !119, !88, !120}
!119 = !DILocation(line: 27, column: 72, scope: !44)
!120 = !{!"llvm.loop.unroll.enable"}
!121 = !DILocation(line: 28, column: 18, scope: !44)
!122 = !DILocation(line: 28, column: 12, scope: !44)
!123 = !DILocation(line: 28, column: 3, scope: !44)
!124 = !DILocation(line: 28, column: 10, scope: !44)
!125 = !DILocation(line: 29, column: 1, scope: !44)
!126 = distinct !DISubprogram(name: "two_entries", scope: !7, file: !7, line: 31, type: !14, scopeLine: 31, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!127 = !{!128, !128, i64 0}
!128 = !{!"bool", !11, i64 0}
!129 = !DILocation(line: 32, column: 3, scope: !126)
!130 = !DILocation(line: 32, column: 7, scope: !126)
!131 = !DILocation(line: 33, column: 7, scope: !126)
!132 = !{i8 0, i8 2}
!133 = !DILocation(line: 33, column: 15, scope: !126)
!134 = !DILocation(line: 35, column: 3, scope: !126)
!135 = !DILocation(line: 35, column: 5, scope: !126)
!136 = !DILocation(line: 35, column: 8, scope: !126)
!137 = !DILocation(line: 36, column: 7, scope: !126)
!138 = !DILocation(line: 36, column: 9, scope: !126)
!139 = !DILocation(line: 36, column: 14, scope: !126)
!140 = !DILocation(line: 36, column: 12, scope: !126)
!141 = !DILocation(line: 36, column: 17, scope: !126)
!142 = !DILocation(line: 38, column: 8, scope: !126)
!143 = !DILocation(line: 38, column: 10, scope: !126)
!144 = !DILocation(line: 38, column: 13, scope: !126)
!145 = !DILocation(line: 38, column: 5, scope: !126)
!146 = !DILocation(line: 39, column: 7, scope: !126)
!147 = !DILocation(line: 39, column: 11, scope: !126)
!148 = !DILocation(line: 39, column: 9, scope: !126)
!149 = !DILocation(line: 39, column: 14, scope: !126)
!150 = !DILocation(line: 41, column: 10, scope: !126)
!151 = !DILocation(line: 41, column: 3, scope: !126)
!152 = !DILocation(line: 41, column: 8, scope: !126)
!153 = !DILocation(line: 42, column: 1, scope: !126)
!154 = distinct !DISubprogram(name: "ends", scope: !7, file: !7, line: 44, type: !14, scopeLine: 44, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!155 = !{!156, !156, i64 0}
!156 = !{!"long", !11, i64 0}
!157 = !{!158, !158, i64 0}
!158 = !{!"short", !11, i64 0}
!159 = !DILocation(line: 45, column: 8, scope: !154)
!160 = !DILocation(line: 45, column: 7, scope: !154)
!161 = !DILocation(line: 45, column: 10, scope: !154)
!162 = !DILocation(line: 45, column: 16, scope: !154)
!163 = !DILocation(line: 46, column: 8, scope: !154)
!164 = !DILocation(line: 46, column: 7, scope: !154)
!165 = !DILocation(line: 46, column: 10, scope: !154)
!166 = !DILocation(line: 46, column: 16, scope: !154)
!167 = !DILocation(line: 47, column: 3, scope: !154)
!168 = !DILocation(line: 48, column: 5, scope: !154)
!169 = !DILocation(line: 48, column: 14, scope: !154)
!170 = !DILocation(line: 48, column: 20, scope: !154)
!171 = !DILocation(line: 48, column: 19, scope: !154)
!172 = !DILocation(line: 48, column: 22, scope: !154)
!173 = !DILocation(line: 48, column: 18, scope: !154)
!174 = !DILocation(line: 48, column: 16, scope: !154)
!175 = !DILocation(line: 48, column: 10, scope: !154)
!176 = !DILocation(line: 49, column: 5, scope: !154)
!177 = !DILocation(line: 49, column: 28, scope: !154)
!178 = !DILocation(line: 49, column: 33, scope: !154)
!179 = !DILocation(line: 49, column: 35, scope: !154)
!180 = !DILocation(line: 49, column: 30, scope: !154)
!181 = !DILocation(line: 49, column: 14, scope: !154)
!182 = !DILocation(line: 50, column: 9, scope: !154)
!183 = !DILocation(line: 50, column: 11, scope: !154)
!184 = !DILocation(line: 50, column: 16, scope: !154)
!185 = !DILocation(line: 50, column: 19, scope: !154)
!186 = !DILocation(line: 50, column: 21, scope: !154)
!187 = !DILocation(line: 50, column: 42, scope: !154)
!188 = !DILocation(line: 50, column: 48, scope: !154)
!189 = !DILocation(line: 50, column: 50, scope: !154)
!190 = !DILocation(line: 50, column: 44, scope: !154)
!191 = !DILocation(line: 50, column: 41, scope: !154)
!192 = !DILocation(line: 50, column: 29, scope: !154)
!193 = !DILocation(line: 50, column: 34, scope: !154)
!194 = !DILocation(line: 50, column: 58, scope: !154)
!195 = !DILocation(line: 51, column: 13, scope: !154)
!196 = !DILocation(line: 51, column: 15, scope: !154)
!197 = !DILocation(line: 51, column: 5, scope: !154)
!198 = !DILocation(line: 51, column: 32, scope: !154)
!199 = !DILocation(line: 51, column: 38, scope: !154)
!200 = !DILocation(line: 51, column: 55, scope: !154)
!201 = !DILocation(line: 51, column: 61, scope: !154)
!202 = !DILocation(line: 51, column: 79, scope: !154)
!203 = !DILocation(line: 51, column: 86, scope: !154)
!204 = !DILocation(line: 52, column: 15, scope: !154)
!205 = !DILocation(line: 52, column: 6, scope: !154)
!206 = !DILocation(line: 52, column: 8, scope: !154)
!207 = !DILocation(line: 53, column: 3, scope: !154)
!208 = distinct !{!208, !167, !207, !88}
!209 = !DILocation(line: 54, column: 1, scope: !154)
