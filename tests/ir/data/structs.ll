; ModuleID = 'structs.cu'
source_filename = "structs.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

%struct.Particle = type { %struct.Vec, %struct.Vec, float, [3 x i32], %union.anon }
%struct.Vec = type { float, float, float }
%union.anon = type { i32 }
%struct.Packed = type <{ i8, i32, i16 }>
%struct.float4 = type { float, float, float, float }
%printf_args = type { ptr, i32, double }
%struct.Disc = type { %struct.Shape.base, float }
%struct.Shape.base = type <{ ptr, i32 }>
%struct.Shape = type <{ ptr, i32, [4 x i8] }>

$_ZN4DiscC1Ev = comdat any

$_ZN4DiscC2Ev = comdat any

$_ZN5ShapeC2Ev = comdat any

$_ZN4Disc4areaEf = comdat any

$_ZN5Shape4areaEf = comdat any

$_ZTV4Disc = comdat any

$_ZTV5Shape = comdat any

@seeds = dso_local addrspace(1) externally_initialized global [4 x %struct.Particle] [%struct.Particle { %struct.Vec { float 1.000000e+00, float 2.000000e+00, float 3.000000e+00 }, %struct.Vec zeroinitializer, float 0x3FB99999A0000000, [3 x i32] [i32 1, i32 2, i32 3], %union.anon { i32 7 } }, %struct.Particle zeroinitializer, %struct.Particle zeroinitializer, %struct.Particle zeroinitializer], align 4
@.str = private unnamed_addr constant [16 x i8] c"first \22quoted\22\0A\00", align 1
@.str1 = private unnamed_addr constant [8 x i8] c"second\09\00", align 1
@messages = dso_local addrspace(1) externally_initialized global [2 x ptr] [ptr @.str, ptr @.str1], align 8
@packed = dso_local addrspace(1) externally_initialized global %struct.Packed <{ i8 120, i32 258, i16 -2 }>, align 1
@table = dso_local addrspace(4) externally_initialized constant [3 x double] [double 1.000000e-01, double 1.000000e+300, double -0.000000e+00], align 8
@.str2 = private unnamed_addr constant [10 x i8] c"%s %d %f\0A\00", align 1
@_ZTV4Disc = linkonce_odr dso_local unnamed_addr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr null, ptr @_ZN4Disc4areaEf] }, comdat, align 8
@_ZTV5Shape = linkonce_odr dso_local unnamed_addr constant { [3 x ptr] } { [3 x ptr] [ptr null, ptr null, ptr @_ZN5Shape4areaEf] }, comdat, align 8
@llvm.compiler.used = appending global [4 x ptr] [ptr addrspacecast (ptr addrspace(1) @seeds to ptr), ptr addrspacecast (ptr addrspace(1) @messages to ptr), ptr addrspacecast (ptr addrspace(1) @packed to ptr), ptr addrspacecast (ptr addrspace(4) @table to ptr)], section "llvm.metadata"

; Function Attrs: convergent mustprogress noinline nounwind
define dso_local %struct.Particle @_Z7advance8Particlef(ptr noundef byval(%struct.Particle) align 4 %0, float noundef %1) #0 !dbg !13 {
  %3 = alloca %struct.Particle, align 4
  %4 = alloca float, align 4
  %5 = alloca %struct.Vec, align 4
  %6 = alloca %struct.Vec, align 4
  %7 = alloca %struct.Vec, align 4
  store float %1, ptr %4, align 4, !tbaa !16
  call void @llvm.lifetime.start.p0(ptr %5) #10, !dbg !18
  %8 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 0, !dbg !19
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %6, ptr align 4 %8, i64 12, i1 false), !dbg !20, !tbaa.struct !21
  %9 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 1, !dbg !22
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %7, ptr align 4 %9, i64 12, i1 false), !dbg !23, !tbaa.struct !21
  %10 = call %struct.Vec @_ZL5cross3VecS_(ptr noundef byval(%struct.Vec) align 4 %6, ptr noundef byval(%struct.Vec) align 4 %7) #11, !dbg !24
  %11 = getelementptr inbounds nuw %struct.Vec, ptr %5, i32 0, i32 0, !dbg !24
  %12 = extractvalue %struct.Vec %10, 0, !dbg !24
  store float %12, ptr %11, align 4, !dbg !24
  %13 = getelementptr inbounds nuw %struct.Vec, ptr %5, i32 0, i32 1, !dbg !24
  %14 = extractvalue %struct.Vec %10, 1, !dbg !24
  store float %14, ptr %13, align 4, !dbg !24
  %15 = getelementptr inbounds nuw %struct.Vec, ptr %5, i32 0, i32 2, !dbg !24
  %16 = extractvalue %struct.Vec %10, 2, !dbg !24
  store float %16, ptr %15, align 4, !dbg !24
  %17 = getelementptr inbounds nuw %struct.Vec, ptr %5, i32 0, i32 0, !dbg !25
  %18 = load float, ptr %17, align 4, !dbg !25, !tbaa !26
  %19 = load float, ptr %4, align 4, !dbg !28, !tbaa !16
  %20 = fmul contract float %18, %19, !dbg !29
  %21 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 0, !dbg !30
  %22 = getelementptr inbounds nuw %struct.Vec, ptr %21, i32 0, i32 0, !dbg !31
  %23 = load float, ptr %22, align 4, !dbg !32, !tbaa !33
  %24 = fadd contract float %23, %20, !dbg !32
  store float %24, ptr %22, align 4, !dbg !32, !tbaa !33
  %25 = getelementptr inbounds nuw %struct.Vec, ptr %5, i32 0, i32 1, !dbg !35
  %26 = load float, ptr %25, align 4, !dbg !35, !tbaa !36
  %27 = load float, ptr %4, align 4, !dbg !37, !tbaa !16
  %28 = fmul contract float %26, %27, !dbg !38
  %29 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 0, !dbg !39
  %30 = getelementptr inbounds nuw %struct.Vec, ptr %29, i32 0, i32 1, !dbg !40
  %31 = load float, ptr %30, align 4, !dbg !41, !tbaa !42
  %32 = fadd contract float %31, %28, !dbg !41
  store float %32, ptr %30, align 4, !dbg !41, !tbaa !42
  %33 = getelementptr inbounds nuw %struct.Vec, ptr %5, i32 0, i32 2, !dbg !43
  %34 = load float, ptr %33, align 4, !dbg !43, !tbaa !44
  %35 = load float, ptr %4, align 4, !dbg !45, !tbaa !16
  %36 = fmul contract float %34, %35, !dbg !46
  %37 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 0, !dbg !47
  %38 = getelementptr inbounds nuw %struct.Vec, ptr %37, i32 0, i32 2, !dbg !48
  %39 = load float, ptr %38, align 4, !dbg !49, !tbaa !50
  %40 = fadd contract float %39, %36, !dbg !49
  store float %40, ptr %38, align 4, !dbg !49, !tbaa !50
  %41 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 3, !dbg !51
  %42 = getelementptr inbounds [3 x i32], ptr %41, i64 0, i64 0, !dbg !52
  %43 = load i32, ptr %42, align 4, !dbg !52, !tbaa !9
  %44 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 4, !dbg !53
  %45 = load i32, ptr %44, align 4, !dbg !54, !tbaa !55
  %46 = xor i32 %43, %45, !dbg !56
  %47 = getelementptr inbounds nuw %struct.Particle, ptr %0, i32 0, i32 3, !dbg !57
  %48 = getelementptr inbounds [3 x i32], ptr %47, i64 0, i64 2, !dbg !58
  store i32 %46, ptr %48, align 4, !dbg !59, !tbaa !9
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %3, ptr align 4 %0, i64 44, i1 false), !dbg !60, !tbaa.struct !61
  call void @llvm.lifetime.end.p0(ptr %5) #10, !dbg !62
  %49 = load %struct.Particle, ptr %3, align 4, !dbg !62
  ret %struct.Particle %49, !dbg !62
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal %struct.Vec @_ZL5cross3VecS_(ptr noundef byval(%struct.Vec) align 4 %0, ptr noundef byval(%struct.Vec) align 4 %1) #2 !dbg !63 {
  %3 = alloca %struct.Vec, align 4
  %4 = getelementptr inbounds nuw %struct.Vec, ptr %3, i32 0, i32 0, !dbg !64
  %5 = getelementptr inbounds nuw %struct.Vec, ptr %0, i32 0, i32 1, !dbg !65
  %6 = load float, ptr %5, align 4, !dbg !65, !tbaa !36
  %7 = getelementptr inbounds nuw %struct.Vec, ptr %1, i32 0, i32 2, !dbg !66
  %8 = load float, ptr %7, align 4, !dbg !66, !tbaa !44
  %9 = fmul contract float %6, %8, !dbg !67
  %10 = getelementptr inbounds nuw %struct.Vec, ptr %0, i32 0, i32 2, !dbg !68
  %11 = load float, ptr %10, align 4, !dbg !68, !tbaa !44
  %12 = getelementptr inbounds nuw %struct.Vec, ptr %1, i32 0, i32 1, !dbg !69
  %13 = load float, ptr %12, align 4, !dbg !69, !tbaa !36
  %14 = fmul contract float %11, %13, !dbg !70
  %15 = fsub contract float %9, %14, !dbg !71
  store float %15, ptr %4, align 4, !dbg !64, !tbaa !26
  %16 = getelementptr inbounds nuw %struct.Vec, ptr %3, i32 0, i32 1, !dbg !64
  %17 = getelementptr inbounds nuw %struct.Vec, ptr %0, i32 0, i32 2, !dbg !72
  %18 = load float, ptr %17, align 4, !dbg !72, !tbaa !44
  %19 = getelementptr inbounds nuw %struct.Vec, ptr %1, i32 0, i32 0, !dbg !73
  %20 = load float, ptr %19, align 4, !dbg !73, !tbaa !26
  %21 = fmul contract float %18, %20, !dbg !74
  %22 = getelementptr inbounds nuw %struct.Vec, ptr %0, i32 0, i32 0, !dbg !75
  %23 = load float, ptr %22, align 4, !dbg !75, !tbaa !26
  %24 = getelementptr inbounds nuw %struct.Vec, ptr %1, i32 0, i32 2, !dbg !76
  %25 = load float, ptr %24, align 4, !dbg !76, !tbaa !44
  %26 = fmul contract float %23, %25, !dbg !77
  %27 = fsub contract float %21, %26, !dbg !78
  store float %27, ptr %16, align 4, !dbg !64, !tbaa !36
  %28 = getelementptr inbounds nuw %struct.Vec, ptr %3, i32 0, i32 2, !dbg !64
  %29 = getelementptr inbounds nuw %struct.Vec, ptr %0, i32 0, i32 0, !dbg !79
  %30 = load float, ptr %29, align 4, !dbg !79, !tbaa !26
  %31 = getelementptr inbounds nuw %struct.Vec, ptr %1, i32 0, i32 1, !dbg !80
  %32 = load float, ptr %31, align 4, !dbg !80, !tbaa !36
  %33 = fmul contract float %30, %32, !dbg !81
  %34 = getelementptr inbounds nuw %struct.Vec, ptr %0, i32 0, i32 1, !dbg !82
  %35 = load float, ptr %34, align 4, !dbg !82, !tbaa !36
  %36 = getelementptr inbounds nuw %struct.Vec, ptr %1, i32 0, i32 0, !dbg !83
  %37 = load float, ptr %36, align 4, !dbg !83, !tbaa !26
  %38 = fmul contract float %35, %37, !dbg !84
  %39 = fsub contract float %33, %38, !dbg !85
  store float %39, ptr %28, align 4, !dbg !64, !tbaa !44
  %40 = load %struct.Vec, ptr %3, align 4, !dbg !86
  ret %struct.Vec %40, !dbg !86
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: readwrite)
declare void @llvm.memcpy.p0.p0.i64(ptr noalias writeonly captures(none), ptr noalias readonly captures(none), i64, i1 immarg) #3

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4moveP8ParticleifPbPa(ptr noundef %0, i32 noundef %1, float noundef %2, ptr noundef %3, ptr noundef %4) #4 !dbg !87 {
  %6 = alloca ptr, align 8
  %7 = alloca i32, align 4
  %8 = alloca float, align 4
  %9 = alloca ptr, align 8
  %10 = alloca ptr, align 8
  %11 = alloca i32, align 4
  %12 = alloca i32, align 4
  %13 = alloca %struct.Particle, align 4
  %14 = alloca %struct.Particle, align 4
  store ptr %0, ptr %6, align 8, !tbaa !88
  store i32 %1, ptr %7, align 4, !tbaa !9
  store float %2, ptr %8, align 4, !tbaa !16
  store ptr %3, ptr %9, align 8, !tbaa !91
  store ptr %4, ptr %10, align 8, !tbaa !93
  call void @llvm.lifetime.start.p0(ptr %11) #10, !dbg !95
  %15 = call noundef i32 @_ZL8positionv() #11, !dbg !96
  store i32 %15, ptr %11, align 4, !dbg !97, !tbaa !9
  %16 = load i32, ptr %11, align 4, !dbg !98, !tbaa !9
  %17 = load i32, ptr %7, align 4, !dbg !99, !tbaa !9
  %18 = icmp sge i32 %16, %17, !dbg !100
  br i1 %18, label %19, label %20, !dbg !100

19:                                               ; preds = %5
  store i32 1, ptr %12, align 4
  br label %98, !dbg !101

20:                                               ; preds = %5
  call void @llvm.lifetime.start.p0(ptr %13) #10, !dbg !102
  %21 = load ptr, ptr %6, align 8, !dbg !103, !tbaa !88
  %22 = load i32, ptr %11, align 4, !dbg !104, !tbaa !9
  %23 = sext i32 %22 to i64, !dbg !103
  %24 = getelementptr inbounds %struct.Particle, ptr %21, i64 %23, !dbg !103
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %14, ptr align 4 %24, i64 44, i1 false), !dbg !103, !tbaa.struct !61
  %25 = load float, ptr %8, align 4, !dbg !105, !tbaa !16
  %26 = call %struct.Particle @_Z7advance8Particlef(ptr noundef byval(%struct.Particle) align 4 %14, float noundef %25) #11, !dbg !106
  %27 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 0, !dbg !106
  %28 = extractvalue %struct.Particle %26, 0, !dbg !106
  store %struct.Vec %28, ptr %27, align 4, !dbg !106
  %29 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 1, !dbg !106
  %30 = extractvalue %struct.Particle %26, 1, !dbg !106
  store %struct.Vec %30, ptr %29, align 4, !dbg !106
  %31 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 2, !dbg !106
  %32 = extractvalue %struct.Particle %26, 2, !dbg !106
  store float %32, ptr %31, align 4, !dbg !106
  %33 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 3, !dbg !106
  %34 = extractvalue %struct.Particle %26, 3, !dbg !106
  store [3 x i32] %34, ptr %33, align 4, !dbg !106
  %35 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 4, !dbg !106
  %36 = extractvalue %struct.Particle %26, 4, !dbg !106
  store %union.anon %36, ptr %35, align 4, !dbg !106
  %37 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 2, !dbg !107
  %38 = load float, ptr %37, align 4, !dbg !107, !tbaa !108
  %39 = load i32, ptr %11, align 4, !dbg !109, !tbaa !9
  %40 = and i32 %39, 3, !dbg !110
  %41 = sext i32 %40 to i64, !dbg !111
  %42 = getelementptr inbounds [4 x %struct.Particle], ptr addrspacecast (ptr addrspace(1) @seeds to ptr), i64 0, i64 %41, !dbg !111
  %43 = getelementptr inbounds nuw %struct.Particle, ptr %42, i32 0, i32 2, !dbg !112
  %44 = load float, ptr %43, align 4, !dbg !112, !tbaa !108
  %45 = fcmp contract olt float %38, %44, !dbg !113
  br i1 %45, label %46, label %50, !dbg !113

46:                                               ; preds = %20
  %47 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 2, !dbg !114
  %48 = load float, ptr %47, align 4, !dbg !114, !tbaa !108
  %49 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 4, !dbg !115
  store float %48, ptr %49, align 4, !dbg !116, !tbaa !55
  br label %50, !dbg !117

50:                                               ; preds = %46, %20
  %51 = load ptr, ptr %6, align 8, !dbg !118, !tbaa !88
  %52 = load i32, ptr %11, align 4, !dbg !119, !tbaa !9
  %53 = sext i32 %52 to i64, !dbg !118
  %54 = getelementptr inbounds %struct.Particle, ptr %51, i64 %53, !dbg !118
  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %54, ptr align 4 %13, i64 44, i1 false), !dbg !120, !tbaa.struct !61
  %55 = getelementptr inbounds nuw %struct.Particle, ptr %13, i32 0, i32 2, !dbg !121
  %56 = load float, ptr %55, align 4, !dbg !121, !tbaa !108
  %57 = fcmp contract ogt float %56, 0.000000e+00, !dbg !122
  br i1 %57, label %58, label %66, !dbg !123

58:                                               ; preds = %50
  %59 = load ptr, ptr %9, align 8, !dbg !124, !tbaa !91
  %60 = load i32, ptr %11, align 4, !dbg !125, !tbaa !9
  %61 = add nsw i32 %60, 1, !dbg !126
  %62 = sext i32 %61 to i64, !dbg !124
  %63 = getelementptr inbounds i8, ptr %59, i64 %62, !dbg !124
  %64 = load i8, ptr %63, align 1, !dbg !124, !tbaa !127, !range !129, !noundef !15
  %65 = trunc i8 %64 to i1, !dbg !124
  br label %66

66:                                               ; preds = %58, %50
  %67 = phi i1 [ false, %50 ], [ %65, %58 ], !dbg !130
  %68 = load ptr, ptr %9, align 8, !dbg !131, !tbaa !91
  %69 = load i32, ptr %11, align 4, !dbg !132, !tbaa !9
  %70 = sext i32 %69 to i64, !dbg !131
  %71 = getelementptr inbounds i8, ptr %68, i64 %70, !dbg !131
  %72 = zext i1 %67 to i8, !dbg !133
  store i8 %72, ptr %71, align 1, !dbg !133, !tbaa !127
  %73 = load ptr, ptr %10, align 8, !dbg !134, !tbaa !93
  %74 = load i32, ptr %11, align 4, !dbg !135, !tbaa !9
  %75 = sext i32 %74 to i64, !dbg !134
  %76 = getelementptr inbounds i8, ptr %73, i64 %75, !dbg !134
  %77 = load i8, ptr %76, align 1, !dbg !134, !tbaa !55
  %78 = sext i8 %77 to i32, !dbg !134
  %79 = shl i32 %78, 2, !dbg !136
  %80 = load ptr, ptr %10, align 8, !dbg !137, !tbaa !93
  %81 = load i32, ptr %11, align 4, !dbg !138, !tbaa !9
  %82 = add nsw i32 %81, 1, !dbg !139
  %83 = sext i32 %82 to i64, !dbg !137
  %84 = getelementptr inbounds i8, ptr %80, i64 %83, !dbg !137
  %85 = load i8, ptr %84, align 1, !dbg !137, !tbaa !55
  %86 = zext i8 %85 to i32, !dbg !140
  %87 = ashr i32 %86, 3, !dbg !141
  %88 = or i32 %79, %87, !dbg !142
  %89 = trunc i32 %88 to i8, !dbg !143
  %90 = load ptr, ptr %10, align 8, !dbg !144, !tbaa !93
  %91 = load i32, ptr %11, align 4, !dbg !145, !tbaa !9
  %92 = sext i32 %91 to i64, !dbg !144
  %93 = getelementptr inbounds i8, ptr %90, i64 %92, !dbg !144
  store i8 %89, ptr %93, align 1, !dbg !146, !tbaa !55
  %94 = load i8, ptr addrspacecast (ptr addrspace(1) @packed to ptr), align 1, !dbg !147, !tbaa !148
  %95 = sext i8 %94 to i32, !dbg !151
  %96 = load i32, ptr getelementptr inbounds nuw (%struct.Packed, ptr addrspacecast (ptr addrspace(1) @packed to ptr), i32 0, i32 1), align 1, !dbg !152, !tbaa !153
  %97 = add nsw i32 %96, %95, !dbg !152
  store i32 %97, ptr getelementptr inbounds nuw (%struct.Packed, ptr addrspacecast (ptr addrspace(1) @packed to ptr), i32 0, i32 1), align 1, !dbg !152, !tbaa !153
  call void @llvm.lifetime.end.p0(ptr %13) #10, !dbg !154
  store i32 0, ptr %12, align 4, !dbg !154
  br label %98, !dbg !154

98:                                               ; preds = %66, %19
  call void @llvm.lifetime.end.p0(ptr %11) #10, !dbg !154
  %99 = load i32, ptr %12, align 4
  switch i32 %99, label %101 [
    i32 0, label %100
    i32 1, label %100
  ]

100:                                              ; preds = %98, %98
  ret void, !dbg !154

101:                                              ; preds = %98
  unreachable
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL8positionv() #2 !dbg !155 {
  %1 = call noundef i32 @_ZL5blockv() #11, !dbg !157
  %2 = call noundef i32 @_ZL7threadsv() #11, !dbg !158
  %3 = mul nsw i32 %1, %2, !dbg !159
  %4 = call noundef i32 @_ZL6threadv() #11, !dbg !160
  %5 = add nsw i32 %3, %4, !dbg !161
  ret i32 %5, !dbg !162
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z5areasPP5ShapeP6float4PdPDh(ptr noundef %0, ptr noundef %1, ptr noundef %2, ptr noundef %3) #4 !dbg !163 {
  %5 = alloca ptr, align 8
  %6 = alloca ptr, align 8
  %7 = alloca ptr, align 8
  %8 = alloca ptr, align 8
  %9 = alloca i32, align 4
  %10 = alloca %struct.float4, align 16
  %11 = alloca %struct.float4, align 16
  %12 = alloca %printf_args, align 8
  store ptr %0, ptr %5, align 8, !tbaa !164
  store ptr %1, ptr %6, align 8, !tbaa !167
  store ptr %2, ptr %7, align 8, !tbaa !169
  store ptr %3, ptr %8, align 8, !tbaa !171
  call void @llvm.lifetime.start.p0(ptr %9) #10, !dbg !173
  %13 = call noundef i32 @_ZL8positionv() #11, !dbg !174
  store i32 %13, ptr %9, align 4, !dbg !175, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %10) #10, !dbg !176
  %14 = load ptr, ptr %6, align 8, !dbg !177, !tbaa !167
  %15 = load i32, ptr %9, align 4, !dbg !178, !tbaa !9
  %16 = sext i32 %15 to i64, !dbg !177
  %17 = getelementptr inbounds %struct.float4, ptr %14, i64 %16, !dbg !177
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %10, ptr align 16 %17, i64 16, i1 false), !dbg !177, !tbaa.struct !179
  %18 = load ptr, ptr %5, align 8, !dbg !180, !tbaa !164
  %19 = load i32, ptr %9, align 4, !dbg !181, !tbaa !9
  %20 = sext i32 %19 to i64, !dbg !180
  %21 = getelementptr inbounds ptr, ptr %18, i64 %20, !dbg !180
  %22 = load ptr, ptr %21, align 8, !dbg !180, !tbaa !182
  %23 = getelementptr inbounds nuw %struct.float4, ptr %10, i32 0, i32 1, !dbg !184
  %24 = load float, ptr %23, align 4, !dbg !184, !tbaa !185
  %25 = load ptr, ptr %22, align 8, !dbg !187, !tbaa !188
  %26 = getelementptr inbounds ptr, ptr %25, i64 0, !dbg !187
  %27 = load ptr, ptr %26, align 8, !dbg !187
  %28 = call contract noundef float %27(ptr noundef nonnull align 8 dereferenceable(12) %22, float noundef %24) #11, !dbg !187
  %29 = fpext contract float %28 to double, !dbg !180
  %30 = load i32, ptr %9, align 4, !dbg !190, !tbaa !9
  %31 = srem i32 %30, 3, !dbg !191
  %32 = sext i32 %31 to i64, !dbg !192
  %33 = getelementptr inbounds [3 x double], ptr addrspacecast (ptr addrspace(4) @table to ptr), i64 0, i64 %32, !dbg !192
  %34 = load double, ptr %33, align 8, !dbg !192, !tbaa !193
  %35 = fmul contract double %29, %34, !dbg !195
  %36 = getelementptr inbounds nuw %struct.float4, ptr %10, i32 0, i32 0, !dbg !196
  %37 = load float, ptr %36, align 16, !dbg !197, !tbaa !198
  %38 = fpext contract float %37 to double, !dbg !197
  %39 = fadd contract double %38, %35, !dbg !197
  %40 = fptrunc contract double %39 to float, !dbg !197
  store float %40, ptr %36, align 16, !dbg !197, !tbaa !198
  call void @llvm.lifetime.start.p0(ptr %11) #10, !dbg !199
  %41 = getelementptr inbounds nuw %struct.float4, ptr %11, i32 0, i32 0, !dbg !200
  %42 = getelementptr inbounds nuw %struct.float4, ptr %10, i32 0, i32 3, !dbg !201
  %43 = load float, ptr %42, align 4, !dbg !201, !tbaa !202
  store float %43, ptr %41, align 16, !dbg !200, !tbaa !198
  %44 = getelementptr inbounds nuw %struct.float4, ptr %11, i32 0, i32 1, !dbg !200
  %45 = getelementptr inbounds nuw %struct.float4, ptr %10, i32 0, i32 0, !dbg !203
  %46 = load float, ptr %45, align 16, !dbg !203, !tbaa !198
  store float %46, ptr %44, align 4, !dbg !200, !tbaa !185
  %47 = getelementptr inbounds nuw %struct.float4, ptr %11, i32 0, i32 2, !dbg !200
  %48 = getelementptr inbounds nuw %struct.float4, ptr %10, i32 0, i32 1, !dbg !204
  %49 = load float, ptr %48, align 4, !dbg !204, !tbaa !185
  store float %49, ptr %47, align 8, !dbg !200, !tbaa !205
  %50 = getelementptr inbounds nuw %struct.float4, ptr %11, i32 0, i32 3, !dbg !200
  %51 = getelementptr inbounds nuw %struct.float4, ptr %10, i32 0, i32 2, !dbg !206
  %52 = load float, ptr %51, align 8, !dbg !206, !tbaa !205
  store float %52, ptr %50, align 4, !dbg !200, !tbaa !202
  %53 = load ptr, ptr %6, align 8, !dbg !207, !tbaa !167
  %54 = load i32, ptr %9, align 4, !dbg !208, !tbaa !9
  %55 = sext i32 %54 to i64, !dbg !207
  %56 = getelementptr inbounds %struct.float4, ptr %53, i64 %55, !dbg !207
  call void @llvm.memcpy.p0.p0.i64(ptr align 16 %56, ptr align 16 %11, i64 16, i1 false), !dbg !209, !tbaa.struct !179
  call void @llvm.lifetime.end.p0(ptr %11) #10, !dbg !207
  %57 = load ptr, ptr %7, align 8, !dbg !210, !tbaa !169
  %58 = load i32, ptr %9, align 4, !dbg !211, !tbaa !9
  %59 = sext i32 %58 to i64, !dbg !210
  %60 = getelementptr inbounds double, ptr %57, i64 %59, !dbg !210
  %61 = load double, ptr %60, align 8, !dbg !210, !tbaa !193
  %62 = load double, ptr getelementptr inbounds ([3 x double], ptr addrspacecast (ptr addrspace(4) @table to ptr), i64 0, i64 1), align 8, !dbg !212, !tbaa !193
  %63 = call contract double @llvm.fma.f64(double %61, double 1.000000e-01, double %62), !dbg !213
  %64 = load ptr, ptr %7, align 8, !dbg !214, !tbaa !169
  %65 = load i32, ptr %9, align 4, !dbg !215, !tbaa !9
  %66 = sext i32 %65 to i64, !dbg !214
  %67 = getelementptr inbounds double, ptr %64, i64 %66, !dbg !214
  store double %63, ptr %67, align 8, !dbg !216, !tbaa !193
  %68 = load ptr, ptr %8, align 8, !dbg !217, !tbaa !171
  %69 = load i32, ptr %9, align 4, !dbg !218, !tbaa !9
  %70 = sext i32 %69 to i64, !dbg !217
  %71 = getelementptr inbounds half, ptr %68, i64 %70, !dbg !217
  %72 = load half, ptr %71, align 2, !dbg !217, !tbaa !219
  %73 = fpext contract half %72 to float, !dbg !217
  %74 = fmul contract float %73, 1.500000e+00, !dbg !221
  %75 = fadd contract float %74, 0x3FD3333340000000, !dbg !222
  %76 = fptrunc contract float %75 to half, !dbg !223
  %77 = load ptr, ptr %8, align 8, !dbg !224, !tbaa !171
  %78 = load i32, ptr %9, align 4, !dbg !225, !tbaa !9
  %79 = sext i32 %78 to i64, !dbg !224
  %80 = getelementptr inbounds half, ptr %77, i64 %79, !dbg !224
  store half %76, ptr %80, align 2, !dbg !226, !tbaa !219
  %81 = load i32, ptr %9, align 4, !dbg !227, !tbaa !9
  %82 = icmp eq i32 %81, 0, !dbg !228
  br i1 %82, label %83, label %97, !dbg !228

83:                                               ; preds = %4
  %84 = load i32, ptr %9, align 4, !dbg !229, !tbaa !9
  %85 = and i32 %84, 1, !dbg !230
  %86 = sext i32 %85 to i64, !dbg !231
  %87 = getelementptr inbounds [2 x ptr], ptr addrspacecast (ptr addrspace(1) @messages to ptr), i64 0, i64 %86, !dbg !231
  %88 = load ptr, ptr %87, align 8, !dbg !231, !tbaa !93
  %89 = load i32, ptr %9, align 4, !dbg !232, !tbaa !9
  %90 = getelementptr inbounds nuw %struct.float4, ptr %10, i32 0, i32 0, !dbg !233
  %91 = load float, ptr %90, align 16, !dbg !233, !tbaa !198
  %92 = fpext contract float %91 to double, !dbg !234
  %93 = getelementptr inbounds nuw %printf_args, ptr %12, i32 0, i32 0, !dbg !235
  store ptr %88, ptr %93, align 8, !dbg !235
  %94 = getelementptr inbounds nuw %printf_args, ptr %12, i32 0, i32 1, !dbg !235
  store i32 %89, ptr %94, align 4, !dbg !235
  %95 = getelementptr inbounds nuw %printf_args, ptr %12, i32 0, i32 2, !dbg !235
  store double %92, ptr %95, align 8, !dbg !235
  %96 = call i32 @vprintf(ptr @.str2, ptr %12), !dbg !235
  br label %97, !dbg !235

97:                                               ; preds = %83, %4
  call void @llvm.lifetime.end.p0(ptr %10) #10, !dbg !236
  call void @llvm.lifetime.end.p0(ptr %9) #10, !dbg !236
  ret void, !dbg !236
}

; Function Attrs: nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare double @llvm.fma.f64(double, double, double) #5

declare i32 @vprintf(ptr, ptr)

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4makeP4Disc(ptr noundef %0) #4 !dbg !237 {
  %2 = alloca ptr, align 8
  store ptr %0, ptr %2, align 8, !tbaa !238
  %3 = load ptr, ptr %2, align 8, !dbg !240, !tbaa !238
  call void @llvm.memset.p0.i64(ptr align 8 %3, i8 0, i64 16, i1 false), !dbg !241
  call void @_ZN4DiscC1Ev(ptr noundef nonnull align 8 dereferenceable(16) %3) #11, !dbg !241
  %4 = load ptr, ptr %2, align 8, !dbg !242, !tbaa !238
  %5 = getelementptr inbounds nuw %struct.Disc, ptr %4, i32 0, i32 1, !dbg !243
  store float 2.000000e+00, ptr %5, align 4, !dbg !244, !tbaa !245
  %6 = load ptr, ptr %2, align 8, !dbg !248, !tbaa !238
  %7 = getelementptr inbounds nuw %struct.Shape, ptr %6, i32 0, i32 1, !dbg !249
  store i32 3, ptr %7, align 8, !dbg !250, !tbaa !251
  ret void, !dbg !252
}

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #6

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr dso_local void @_ZN4DiscC1Ev(ptr noundef nonnull align 8 dereferenceable(16) %0) unnamed_addr #7 comdat align 2 !dbg !253 {
  %2 = alloca ptr, align 8
  store ptr %0, ptr %2, align 8, !tbaa !238
  %3 = load ptr, ptr %2, align 8
  call void @_ZN4DiscC2Ev(ptr noundef nonnull align 8 dereferenceable(16) %3) #11, !dbg !254
  ret void, !dbg !254
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL5blockv() #2 !dbg !255 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !256
  ret i32 %1, !dbg !257
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL7threadsv() #2 !dbg !258 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x(), !dbg !259
  ret i32 %1, !dbg !260
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL6threadv() #2 !dbg !261 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !262
  ret i32 %1, !dbg !263
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #8

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #8

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #8

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr dso_local void @_ZN4DiscC2Ev(ptr noundef nonnull align 8 dereferenceable(16) %0) unnamed_addr #7 comdat align 2 !dbg !264 {
  %2 = alloca ptr, align 8
  store ptr %0, ptr %2, align 8, !tbaa !238
  %3 = load ptr, ptr %2, align 8
  call void @_ZN5ShapeC2Ev(ptr noundef nonnull align 8 dereferenceable(12) %3) #11, !dbg !265
  store ptr getelementptr inbounds inrange(-16, 8) ({ [3 x ptr] }, ptr @_ZTV4Disc, i32 0, i32 0, i32 2), ptr %3, align 8, !dbg !265, !tbaa !188
  ret void, !dbg !265
}

; Function Attrs: convergent inlinehint mustprogress nounwind
define linkonce_odr dso_local void @_ZN5ShapeC2Ev(ptr noundef nonnull align 8 dereferenceable(12) %0) unnamed_addr #7 comdat align 2 !dbg !266 {
  %2 = alloca ptr, align 8
  store ptr %0, ptr %2, align 8, !tbaa !182
  %3 = load ptr, ptr %2, align 8
  store ptr getelementptr inbounds inrange(-16, 8) ({ [3 x ptr] }, ptr @_ZTV5Shape, i32 0, i32 0, i32 2), ptr %3, align 8, !dbg !267, !tbaa !188
  ret void, !dbg !267
}

; Function Attrs: convergent mustprogress nounwind
define linkonce_odr dso_local noundef float @_ZN4Disc4areaEf(ptr noundef nonnull align 8 dereferenceable(16) %0, float noundef %1) unnamed_addr #9 comdat align 2 !dbg !268 {
  %3 = alloca ptr, align 8
  %4 = alloca float, align 4
  store ptr %0, ptr %3, align 8, !tbaa !238
  store float %1, ptr %4, align 4, !tbaa !16
  %5 = load ptr, ptr %3, align 8
  %6 = load float, ptr %4, align 4, !dbg !269, !tbaa !16
  %7 = getelementptr inbounds nuw %struct.Disc, ptr %5, i32 0, i32 1, !dbg !270
  %8 = load float, ptr %7, align 4, !dbg !270, !tbaa !245
  %9 = fmul contract float %6, %8, !dbg !271
  %10 = getelementptr inbounds nuw %struct.Disc, ptr %5, i32 0, i32 1, !dbg !272
  %11 = load float, ptr %10, align 4, !dbg !272, !tbaa !245
  %12 = fmul contract float %9, %11, !dbg !273
  ret float %12, !dbg !274
}

; Function Attrs: convergent mustprogress nounwind
define linkonce_odr dso_local noundef float @_ZN5Shape4areaEf(ptr noundef nonnull align 8 dereferenceable(12) %0, float noundef %1) unnamed_addr #9 comdat align 2 !dbg !275 {
  %3 = alloca ptr, align 8
  %4 = alloca float, align 4
  store ptr %0, ptr %3, align 8, !tbaa !182
  store float %1, ptr %4, align 4, !tbaa !16
  %5 = load ptr, ptr %3, align 8
  %6 = load float, ptr %4, align 4, !dbg !276, !tbaa !16
  %7 = getelementptr inbounds nuw %struct.Shape, ptr %5, i32 0, i32 1, !dbg !277
  %8 = load i32, ptr %7, align 8, !dbg !277, !tbaa !251
  %9 = sitofp i32 %8 to float, !dbg !277
  %10 = fmul contract float %6, %9, !dbg !278
  ret float %10, !dbg !279
}

attributes #0 = { convergent mustprogress noinline nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #3 = { nocallback nofree nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" "uniform-work-group-size"="true" }
attributes #5 = { nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #7 = { convergent inlinehint mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #8 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #9 = { convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #10 = { nounwind }
attributes #11 = { convergent nounwind }

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
!7 = !DIFile(filename: "structs.cu", directory: ".")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "advance", scope: !7, file: !7, line: 18, type: !14, scopeLine: 18, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"float", !11, i64 0}
!18 = !DILocation(line: 19, column: 3, scope: !13)
!19 = !DILocation(line: 19, column: 19, scope: !13)
!20 = !DILocation(line: 19, column: 17, scope: !13)
!21 = !{i64 0, i64 4, !16, i64 4, i64 4, !16, i64 8, i64 4, !16}
!22 = !DILocation(line: 19, column: 31, scope: !13)
!23 = !DILocation(line: 19, column: 29, scope: !13)
!24 = !DILocation(line: 19, column: 11, scope: !13)
!25 = !DILocation(line: 20, column: 21, scope: !13)
!26 = !{!27, !17, i64 0}
!27 = !{!"_ZTS3Vec", !17, i64 0, !17, i64 4, !17, i64 8}
!28 = !DILocation(line: 20, column: 25, scope: !13)
!29 = !DILocation(line: 20, column: 23, scope: !13)
!30 = !DILocation(line: 20, column: 5, scope: !13)
!31 = !DILocation(line: 20, column: 14, scope: !13)
!32 = !DILocation(line: 20, column: 16, scope: !13)
!33 = !{!34, !17, i64 0}
!34 = !{!"_ZTS8Particle", !27, i64 0, !27, i64 12, !17, i64 24, !11, i64 28, !11, i64 40}
!35 = !DILocation(line: 20, column: 47, scope: !13)
!36 = !{!27, !17, i64 4}
!37 = !DILocation(line: 20, column: 51, scope: !13)
!38 = !DILocation(line: 20, column: 49, scope: !13)
!39 = !DILocation(line: 20, column: 31, scope: !13)
!40 = !DILocation(line: 20, column: 40, scope: !13)
!41 = !DILocation(line: 20, column: 42, scope: !13)
!42 = !{!34, !17, i64 4}
!43 = !DILocation(line: 20, column: 73, scope: !13)
!44 = !{!27, !17, i64 8}
!45 = !DILocation(line: 20, column: 77, scope: !13)
!46 = !DILocation(line: 20, column: 75, scope: !13)
!47 = !DILocation(line: 20, column: 57, scope: !13)
!48 = !DILocation(line: 20, column: 66, scope: !13)
!49 = !DILocation(line: 20, column: 68, scope: !13)
!50 = !{!34, !17, i64 8}
!51 = !DILocation(line: 21, column: 17, scope: !13)
!52 = !DILocation(line: 21, column: 15, scope: !13)
!53 = !DILocation(line: 21, column: 29, scope: !13)
!54 = !DILocation(line: 21, column: 34, scope: !13)
!55 = !{!11, !11, i64 0}
!56 = !DILocation(line: 21, column: 25, scope: !13)
!57 = !DILocation(line: 21, column: 5, scope: !13)
!58 = !DILocation(line: 21, column: 3, scope: !13)
!59 = !DILocation(line: 21, column: 13, scope: !13)
!60 = !DILocation(line: 22, column: 10, scope: !13)
!61 = !{i64 0, i64 4, !16, i64 4, i64 4, !16, i64 8, i64 4, !16, i64 12, i64 4, !16, i64 16, i64 4, !16, i64 20, i64 4, !16, i64 24, i64 4, !16, i64 28, i64 12, !55, i64 40, i64 4, !55}
!62 = !DILocation(line: 23, column: 1, scope: !13)
!63 = distinct !DISubprogram(name: "cross", scope: !7, file: !7, line: 16, type: !14, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!64 = !DILocation(line: 16, column: 41, scope: !63)
!65 = !DILocation(line: 16, column: 44, scope: !63)
!66 = !DILocation(line: 16, column: 50, scope: !63)
!67 = !DILocation(line: 16, column: 46, scope: !63)
!68 = !DILocation(line: 16, column: 56, scope: !63)
!69 = !DILocation(line: 16, column: 62, scope: !63)
!70 = !DILocation(line: 16, column: 58, scope: !63)
!71 = !DILocation(line: 16, column: 52, scope: !63)
!72 = !DILocation(line: 16, column: 67, scope: !63)
!73 = !DILocation(line: 16, column: 73, scope: !63)
!74 = !DILocation(line: 16, column: 69, scope: !63)
!75 = !DILocation(line: 16, column: 79, scope: !63)
!76 = !DILocation(line: 16, column: 85, scope: !63)
!77 = !DILocation(line: 16, column: 81, scope: !63)
!78 = !DILocation(line: 16, column: 75, scope: !63)
!79 = !DILocation(line: 16, column: 90, scope: !63)
!80 = !DILocation(line: 16, column: 96, scope: !63)
!81 = !DILocation(line: 16, column: 92, scope: !63)
!82 = !DILocation(line: 16, column: 102, scope: !63)
!83 = !DILocation(line: 16, column: 108, scope: !63)
!84 = !DILocation(line: 16, column: 104, scope: !63)
!85 = !DILocation(line: 16, column: 98, scope: !63)
!86 = !DILocation(line: 16, column: 34, scope: !63)
!87 = distinct !DISubprogram(name: "move", scope: !7, file: !7, line: 25, type: !14, scopeLine: 25, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!88 = !{!89, !89, i64 0}
!89 = !{!"p1 _ZTS8Particle", !90, i64 0}
!90 = !{!"any pointer", !11, i64 0}
!91 = !{!92, !92, i64 0}
!92 = !{!"p1 bool", !90, i64 0}
!93 = !{!94, !94, i64 0}
!94 = !{!"p1 omnipotent char", !90, i64 0}
!95 = !DILocation(line: 26, column: 3, scope: !87)
!96 = !DILocation(line: 26, column: 11, scope: !87)
!97 = !DILocation(line: 26, column: 7, scope: !87)
!98 = !DILocation(line: 27, column: 7, scope: !87)
!99 = !DILocation(line: 27, column: 12, scope: !87)
!100 = !DILocation(line: 27, column: 9, scope: !87)
!101 = !DILocation(line: 27, column: 15, scope: !87)
!102 = !DILocation(line: 28, column: 3, scope: !87)
!103 = !DILocation(line: 28, column: 24, scope: !87)
!104 = !DILocation(line: 28, column: 34, scope: !87)
!105 = !DILocation(line: 28, column: 38, scope: !87)
!106 = !DILocation(line: 28, column: 16, scope: !87)
!107 = !DILocation(line: 29, column: 9, scope: !87)
!108 = !{!34, !17, i64 24}
!109 = !DILocation(line: 29, column: 22, scope: !87)
!110 = !DILocation(line: 29, column: 24, scope: !87)
!111 = !DILocation(line: 29, column: 16, scope: !87)
!112 = !DILocation(line: 29, column: 29, scope: !87)
!113 = !DILocation(line: 29, column: 14, scope: !87)
!114 = !DILocation(line: 29, column: 48, scope: !87)
!115 = !DILocation(line: 29, column: 37, scope: !87)
!116 = !DILocation(line: 29, column: 44, scope: !87)
!117 = !DILocation(line: 29, column: 35, scope: !87)
!118 = !DILocation(line: 30, column: 3, scope: !87)
!119 = !DILocation(line: 30, column: 13, scope: !87)
!120 = !DILocation(line: 30, column: 16, scope: !87)
!121 = !DILocation(line: 31, column: 16, scope: !87)
!122 = !DILocation(line: 31, column: 21, scope: !87)
!123 = !DILocation(line: 31, column: 25, scope: !87)
!124 = !DILocation(line: 31, column: 28, scope: !87)
!125 = !DILocation(line: 31, column: 34, scope: !87)
!126 = !DILocation(line: 31, column: 36, scope: !87)
!127 = !{!128, !128, i64 0}
!128 = !{!"bool", !11, i64 0}
!129 = !{i8 0, i8 2}
!130 = !DILocation(line: 0, scope: !87)
!131 = !DILocation(line: 31, column: 3, scope: !87)
!132 = !DILocation(line: 31, column: 9, scope: !87)
!133 = !DILocation(line: 31, column: 12, scope: !87)
!134 = !DILocation(line: 32, column: 15, scope: !87)
!135 = !DILocation(line: 32, column: 21, scope: !87)
!136 = !DILocation(line: 32, column: 24, scope: !87)
!137 = !DILocation(line: 32, column: 48, scope: !87)
!138 = !DILocation(line: 32, column: 54, scope: !87)
!139 = !DILocation(line: 32, column: 56, scope: !87)
!140 = !DILocation(line: 32, column: 33, scope: !87)
!141 = !DILocation(line: 32, column: 61, scope: !87)
!142 = !DILocation(line: 32, column: 30, scope: !87)
!143 = !DILocation(line: 32, column: 14, scope: !87)
!144 = !DILocation(line: 32, column: 3, scope: !87)
!145 = !DILocation(line: 32, column: 9, scope: !87)
!146 = !DILocation(line: 32, column: 12, scope: !87)
!147 = !DILocation(line: 33, column: 26, scope: !87)
!148 = !{!149, !11, i64 0}
!149 = !{!"_ZTS6Packed", !11, i64 0, !10, i64 1, !150, i64 5}
!150 = !{!"short", !11, i64 0}
!151 = !DILocation(line: 33, column: 19, scope: !87)
!152 = !DILocation(line: 33, column: 16, scope: !87)
!153 = !{!149, !10, i64 1}
!154 = !DILocation(line: 34, column: 1, scope: !87)
!155 = distinct !DISubprogram(name: "position", scope: !156, file: !156, line: 16, type: !14, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!156 = !DIFile(filename: "./device.h", directory: ".")
!157 = !DILocation(line: 16, column: 32, scope: !155)
!158 = !DILocation(line: 16, column: 42, scope: !155)
!159 = !DILocation(line: 16, column: 40, scope: !155)
!160 = !DILocation(line: 16, column: 54, scope: !155)
!161 = !DILocation(line: 16, column: 52, scope: !155)
!162 = !DILocation(line: 16, column: 25, scope: !155)
!163 = distinct !DISubprogram(name: "areas", scope: !7, file: !7, line: 36, type: !14, scopeLine: 36, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!164 = !{!165, !165, i64 0}
!165 = !{!"p2 _ZTS5Shape", !166, i64 0}
!166 = !{!"any p2 pointer", !90, i64 0}
!167 = !{!168, !168, i64 0}
!168 = !{!"p1 _ZTS6float4", !90, i64 0}
!169 = !{!170, !170, i64 0}
!170 = !{!"p1 double", !90, i64 0}
!171 = !{!172, !172, i64 0}
!172 = !{!"p1 __fp16", !90, i64 0}
!173 = !DILocation(line: 37, column: 3, scope: !163)
!174 = !DILocation(line: 37, column: 11, scope: !163)
!175 = !DILocation(line: 37, column: 7, scope: !163)
!176 = !DILocation(line: 38, column: 3, scope: !163)
!177 = !DILocation(line: 38, column: 14, scope: !163)
!178 = !DILocation(line: 38, column: 18, scope: !163)
!179 = !{i64 0, i64 4, !16, i64 4, i64 4, !16, i64 8, i64 4, !16, i64 12, i64 4, !16}
!180 = !DILocation(line: 39, column: 10, scope: !163)
!181 = !DILocation(line: 39, column: 17, scope: !163)
!182 = !{!183, !183, i64 0}
!183 = !{!"p1 _ZTS5Shape", !90, i64 0}
!184 = !DILocation(line: 39, column: 28, scope: !163)
!185 = !{!186, !17, i64 4}
!186 = !{!"_ZTS6float4", !17, i64 0, !17, i64 4, !17, i64 8, !17, i64 12}
!187 = !DILocation(line: 39, column: 21, scope: !163)
!188 = !{!189, !189, i64 0}
!189 = !{!"vtable pointer", !12, i64 0}
!190 = !DILocation(line: 39, column: 39, scope: !163)
!191 = !DILocation(line: 39, column: 41, scope: !163)
!192 = !DILocation(line: 39, column: 33, scope: !163)
!193 = !{!194, !194, i64 0}
!194 = !{!"double", !11, i64 0}
!195 = !DILocation(line: 39, column: 31, scope: !163)
!196 = !DILocation(line: 39, column: 5, scope: !163)
!197 = !DILocation(line: 39, column: 7, scope: !163)
!198 = !{!186, !17, i64 0}
!199 = !DILocation(line: 40, column: 12, scope: !163)
!200 = !DILocation(line: 40, column: 18, scope: !163)
!201 = !DILocation(line: 40, column: 21, scope: !163)
!202 = !{!186, !17, i64 12}
!203 = !DILocation(line: 40, column: 26, scope: !163)
!204 = !DILocation(line: 40, column: 31, scope: !163)
!205 = !{!186, !17, i64 8}
!206 = !DILocation(line: 40, column: 36, scope: !163)
!207 = !DILocation(line: 40, column: 3, scope: !163)
!208 = !DILocation(line: 40, column: 7, scope: !163)
!209 = !DILocation(line: 40, column: 10, scope: !163)
!210 = !DILocation(line: 41, column: 24, scope: !163)
!211 = !DILocation(line: 41, column: 26, scope: !163)
!212 = !DILocation(line: 41, column: 35, scope: !163)
!213 = !DILocation(line: 41, column: 10, scope: !163)
!214 = !DILocation(line: 41, column: 3, scope: !163)
!215 = !DILocation(line: 41, column: 5, scope: !163)
!216 = !DILocation(line: 41, column: 8, scope: !163)
!217 = !DILocation(line: 42, column: 26, scope: !163)
!218 = !DILocation(line: 42, column: 28, scope: !163)
!219 = !{!220, !220, i64 0}
!220 = !{!"__fp16", !11, i64 0}
!221 = !DILocation(line: 42, column: 31, scope: !163)
!222 = !DILocation(line: 42, column: 38, scope: !163)
!223 = !DILocation(line: 42, column: 18, scope: !163)
!224 = !DILocation(line: 42, column: 3, scope: !163)
!225 = !DILocation(line: 42, column: 5, scope: !163)
!226 = !DILocation(line: 42, column: 8, scope: !163)
!227 = !DILocation(line: 43, column: 7, scope: !163)
!228 = !DILocation(line: 43, column: 9, scope: !163)
!229 = !DILocation(line: 43, column: 45, scope: !163)
!230 = !DILocation(line: 43, column: 47, scope: !163)
!231 = !DILocation(line: 43, column: 36, scope: !163)
!232 = !DILocation(line: 43, column: 53, scope: !163)
!233 = !DILocation(line: 43, column: 66, scope: !163)
!234 = !DILocation(line: 43, column: 64, scope: !163)
!235 = !DILocation(line: 43, column: 15, scope: !163)
!236 = !DILocation(line: 44, column: 1, scope: !163)
!237 = distinct !DISubprogram(name: "make", scope: !7, file: !7, line: 46, type: !14, scopeLine: 46, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!238 = !{!239, !239, i64 0}
!239 = !{!"p1 _ZTS4Disc", !90, i64 0}
!240 = !DILocation(line: 46, column: 38, scope: !237)
!241 = !DILocation(line: 46, column: 41, scope: !237)
!242 = !DILocation(line: 46, column: 49, scope: !237)
!243 = !DILocation(line: 46, column: 52, scope: !237)
!244 = !DILocation(line: 46, column: 59, scope: !237)
!245 = !{!246, !17, i64 12}
!246 = !{!"_ZTS4Disc", !247, i64 0, !17, i64 12}
!247 = !{!"_ZTS5Shape", !10, i64 8}
!248 = !DILocation(line: 46, column: 64, scope: !237)
!249 = !DILocation(line: 46, column: 67, scope: !237)
!250 = !DILocation(line: 46, column: 70, scope: !237)
!251 = !{!247, !10, i64 8}
!252 = !DILocation(line: 46, column: 75, scope: !237)
!253 = distinct !DISubprogram(name: "Disc", scope: !7, file: !7, line: 9, type: !14, scopeLine: 9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!254 = !DILocation(line: 9, column: 8, scope: !253)
!255 = distinct !DISubprogram(name: "block", scope: !156, file: !156, line: 14, type: !14, scopeLine: 14, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!256 = !DILocation(line: 14, column: 29, scope: !255)
!257 = !DILocation(line: 14, column: 22, scope: !255)
!258 = distinct !DISubprogram(name: "threads", scope: !156, file: !156, line: 15, type: !14, scopeLine: 15, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!259 = !DILocation(line: 15, column: 31, scope: !258)
!260 = !DILocation(line: 15, column: 24, scope: !258)
!261 = distinct !DISubprogram(name: "thread", scope: !156, file: !156, line: 13, type: !14, scopeLine: 13, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!262 = !DILocation(line: 13, column: 30, scope: !261)
!263 = !DILocation(line: 13, column: 23, scope: !261)
!264 = distinct !DISubprogram(name: "Disc", scope: !7, file: !7, line: 9, type: !14, scopeLine: 9, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!265 = !DILocation(line: 9, column: 8, scope: !264)
!266 = distinct !DISubprogram(name: "Shape", scope: !7, file: !7, line: 8, type: !14, scopeLine: 8, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!267 = !DILocation(line: 8, column: 8, scope: !266)
!268 = distinct !DISubprogram(name: "area", scope: !7, file: !7, line: 9, type: !14, scopeLine: 9, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!269 = !DILocation(line: 9, column: 86, scope: !268)
!270 = !DILocation(line: 9, column: 90, scope: !268)
!271 = !DILocation(line: 9, column: 88, scope: !268)
!272 = !DILocation(line: 9, column: 99, scope: !268)
!273 = !DILocation(line: 9, column: 97, scope: !268)
!274 = !DILocation(line: 9, column: 79, scope: !268)
!275 = distinct !DISubprogram(name: "area", scope: !7, file: !7, line: 8, type: !14, scopeLine: 8, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!276 = !DILocation(line: 8, column: 72, scope: !275)
!277 = !DILocation(line: 8, column: 76, scope: !275)
!278 = !DILocation(line: 8, column: 74, scope: !275)
!279 = !DILocation(line: 8, column: 65, scope: !275)
