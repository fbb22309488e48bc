; ModuleID = 'stencil.cu'
source_filename = "stencil.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@coefficients = dso_local addrspace(4) externally_initialized constant [8 x float] [float 5.000000e-01, float 0x3FB99999A0000000, float -2.500000e-01, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00, float 0.000000e+00], align 4
@_ZZ4heatPKfPfS0_iifE4tile = internal addrspace(3) global [16 x [16 x float]] undef, align 4
@_ZZ4heatPKfPfS0_iifE4next = internal addrspace(3) global [16 x [16 x float]] undef, align 4
@_ZZ5pathsPKiS0_PiiiE4last = internal addrspace(3) global [256 x i32] undef, align 4
@now = external dso_local addrspace(3) global [0 x i32], align 4
@llvm.compiler.used = appending global [1 x ptr] [ptr addrspacecast (ptr addrspace(4) @coefficients to ptr)], section "llvm.metadata"

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z4heatPKfPfS0_iif(ptr noalias noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3, i32 noundef %4, float noundef %5) #0 !dbg !13 {
  %7 = alloca ptr, align 8
  %8 = alloca ptr, align 8
  %9 = alloca ptr, align 8
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = alloca float, align 4
  %13 = alloca i32, align 4
  %14 = alloca i32, align 4
  %15 = alloca i32, align 4
  %16 = alloca i32, align 4
  %17 = alloca i8, align 1
  %18 = alloca i8, align 1
  %19 = alloca i32, align 4
  %20 = alloca i32, align 4
  %21 = alloca float, align 4
  store ptr %0, ptr %7, align 8, !tbaa !16
  store ptr %1, ptr %8, align 8, !tbaa !16
  store ptr %2, ptr %9, align 8, !tbaa !16
  store i32 %3, ptr %10, align 4, !tbaa !9
  store i32 %4, ptr %11, align 4, !tbaa !9
  store float %5, ptr %12, align 4, !tbaa !19
  call void @llvm.lifetime.start.p0(ptr %13) #5, !dbg !21
  %22 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !22
  store i32 %22, ptr %13, align 4, !dbg !23, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %14) #5, !dbg !21
  %23 = call i32 @llvm.nvvm.read.ptx.sreg.tid.y(), !dbg !24
  store i32 %23, ptr %14, align 4, !dbg !25, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %15) #5, !dbg !26
  %24 = call noundef i32 @_ZL5blockv() #6, !dbg !27
  %25 = mul nsw i32 %24, 16, !dbg !28
  %26 = load i32, ptr %13, align 4, !dbg !29, !tbaa !9
  %27 = add nsw i32 %25, %26, !dbg !30
  store i32 %27, ptr %15, align 4, !dbg !31, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %16) #5, !dbg !26
  %28 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.y(), !dbg !32
  %29 = mul nsw i32 %28, 16, !dbg !33
  %30 = load i32, ptr %14, align 4, !dbg !34, !tbaa !9
  %31 = add nsw i32 %29, %30, !dbg !35
  store i32 %31, ptr %16, align 4, !dbg !36, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %17) #5, !dbg !37
  %32 = load i32, ptr %15, align 4, !dbg !38, !tbaa !9
  %33 = load i32, ptr %10, align 4, !dbg !39, !tbaa !9
  %34 = icmp slt i32 %32, %33, !dbg !40
  br i1 %34, label %35, label %39, !dbg !41

35:                                               ; preds = %6
  %36 = load i32, ptr %16, align 4, !dbg !42, !tbaa !9
  %37 = load i32, ptr %10, align 4, !dbg !43, !tbaa !9
  %38 = icmp slt i32 %36, %37, !dbg !44
  br label %39

39:                                               ; preds = %35, %6
  %40 = phi i1 [ false, %6 ], [ %38, %35 ], !dbg !45
  %41 = zext i1 %40 to i8, !dbg !46
  store i8 %41, ptr %17, align 1, !dbg !46, !tbaa !47
  %42 = load i8, ptr %17, align 1, !dbg !49, !tbaa !47, !range !50, !noundef !15
  %43 = trunc i8 %42 to i1, !dbg !49
  br i1 %43, label %44, label %60, !dbg !49

44:                                               ; preds = %39
  %45 = load ptr, ptr %9, align 8, !dbg !51, !tbaa !16
  %46 = load i32, ptr %16, align 4, !dbg !52, !tbaa !9
  %47 = load i32, ptr %10, align 4, !dbg !53, !tbaa !9
  %48 = mul nsw i32 %46, %47, !dbg !54
  %49 = load i32, ptr %15, align 4, !dbg !55, !tbaa !9
  %50 = add nsw i32 %48, %49, !dbg !56
  %51 = sext i32 %50 to i64, !dbg !51
  %52 = getelementptr inbounds float, ptr %45, i64 %51, !dbg !51
  %53 = load float, ptr %52, align 4, !dbg !51, !tbaa !19
  %54 = load i32, ptr %14, align 4, !dbg !57, !tbaa !9
  %55 = sext i32 %54 to i64, !dbg !58
  %56 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 0, i64 %55, !dbg !58
  %57 = load i32, ptr %13, align 4, !dbg !59, !tbaa !9
  %58 = sext i32 %57 to i64, !dbg !58
  %59 = getelementptr inbounds [16 x float], ptr %56, i64 0, i64 %58, !dbg !58
  store float %53, ptr %59, align 4, !dbg !60, !tbaa !19
  br label %60, !dbg !58

60:                                               ; preds = %44, %39
  call void @_ZL7barrierv() #6, !dbg !61
  call void @llvm.lifetime.start.p0(ptr %18) #5, !dbg !62
  store i8 0, ptr %18, align 1, !dbg !63, !tbaa !47
  call void @llvm.lifetime.start.p0(ptr %19) #5, !dbg !64
  store i32 0, ptr %19, align 4, !dbg !65, !tbaa !9
  br label %61, !dbg !64

61:                                               ; preds = %186, %60
  %62 = load i32, ptr %19, align 4, !dbg !66, !tbaa !9
  %63 = load i32, ptr %11, align 4, !dbg !67, !tbaa !9
  %64 = icmp slt i32 %62, %63, !dbg !68
  br i1 %64, label %66, label %65, !dbg !69

65:                                               ; preds = %61
  store i32 2, ptr %20, align 4
  br label %189, !dbg !69

66:                                               ; preds = %61
  store i8 0, ptr %18, align 1, !dbg !70, !tbaa !47
  %67 = load i32, ptr %13, align 4, !dbg !71, !tbaa !9
  %68 = load i32, ptr %19, align 4, !dbg !72, !tbaa !9
  %69 = icmp sgt i32 %67, %68, !dbg !73
  br i1 %69, label %70, label %162, !dbg !74

70:                                               ; preds = %66
  %71 = load i32, ptr %13, align 4, !dbg !75, !tbaa !9
  %72 = load i32, ptr %19, align 4, !dbg !76, !tbaa !9
  %73 = sub nsw i32 15, %72, !dbg !77
  %74 = icmp slt i32 %71, %73, !dbg !78
  br i1 %74, label %75, label %162, !dbg !79

75:                                               ; preds = %70
  %76 = load i32, ptr %14, align 4, !dbg !80, !tbaa !9
  %77 = load i32, ptr %19, align 4, !dbg !81, !tbaa !9
  %78 = icmp sgt i32 %76, %77, !dbg !82
  br i1 %78, label %79, label %162, !dbg !83

79:                                               ; preds = %75
  %80 = load i32, ptr %14, align 4, !dbg !84, !tbaa !9
  %81 = load i32, ptr %19, align 4, !dbg !85, !tbaa !9
  %82 = sub nsw i32 15, %81, !dbg !86
  %83 = icmp slt i32 %80, %82, !dbg !87
  br i1 %83, label %84, label %162, !dbg !88

84:                                               ; preds = %79
  %85 = load i8, ptr %17, align 1, !dbg !89, !tbaa !47, !range !50, !noundef !15
  %86 = trunc i8 %85 to i1, !dbg !89
  br i1 %86, label %87, label %162, !dbg !88

87:                                               ; preds = %84
  store i8 1, ptr %18, align 1, !dbg !90, !tbaa !47
  call void @llvm.lifetime.start.p0(ptr %21) #5, !dbg !91
  %88 = load i32, ptr %14, align 4, !dbg !92, !tbaa !9
  %89 = sext i32 %88 to i64, !dbg !93
  %90 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 0, i64 %89, !dbg !93
  %91 = load i32, ptr %13, align 4, !dbg !94, !tbaa !9
  %92 = sext i32 %91 to i64, !dbg !93
  %93 = getelementptr inbounds [16 x float], ptr %90, i64 0, i64 %92, !dbg !93
  %94 = load float, ptr %93, align 4, !dbg !93, !tbaa !19
  store float %94, ptr %21, align 4, !dbg !95, !tbaa !19
  %95 = load float, ptr %21, align 4, !dbg !96, !tbaa !19
  %96 = load float, ptr %12, align 4, !dbg !97, !tbaa !19
  %97 = load ptr, ptr %7, align 8, !dbg !98, !tbaa !16
  %98 = load i32, ptr %16, align 4, !dbg !99, !tbaa !9
  %99 = load i32, ptr %10, align 4, !dbg !100, !tbaa !9
  %100 = mul nsw i32 %98, %99, !dbg !101
  %101 = load i32, ptr %15, align 4, !dbg !102, !tbaa !9
  %102 = add nsw i32 %100, %101, !dbg !103
  %103 = sext i32 %102 to i64, !dbg !98
  %104 = getelementptr inbounds float, ptr %97, i64 %103, !dbg !98
  %105 = load float, ptr %104, align 4, !dbg !98, !tbaa !19
  %106 = load i32, ptr %19, align 4, !dbg !104, !tbaa !9
  %107 = and i32 %106, 7, !dbg !105
  %108 = sext i32 %107 to i64, !dbg !106
  %109 = getelementptr inbounds [8 x float], ptr addrspacecast (ptr addrspace(4) @coefficients to ptr), i64 0, i64 %108, !dbg !106
  %110 = load float, ptr %109, align 4, !dbg !106, !tbaa !19
  %111 = fmul contract float %105, %110, !dbg !107
  %112 = load i32, ptr %14, align 4, !dbg !108, !tbaa !9
  %113 = add nsw i32 %112, 1, !dbg !109
  %114 = sext i32 %113 to i64, !dbg !110
  %115 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 0, i64 %114, !dbg !110
  %116 = load i32, ptr %13, align 4, !dbg !111, !tbaa !9
  %117 = sext i32 %116 to i64, !dbg !110
  %118 = getelementptr inbounds [16 x float], ptr %115, i64 0, i64 %117, !dbg !110
  %119 = load float, ptr %118, align 4, !dbg !110, !tbaa !19
  %120 = load i32, ptr %14, align 4, !dbg !112, !tbaa !9
  %121 = sub nsw i32 %120, 1, !dbg !113
  %122 = sext i32 %121 to i64, !dbg !114
  %123 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 0, i64 %122, !dbg !114
  %124 = load i32, ptr %13, align 4, !dbg !115, !tbaa !9
  %125 = sext i32 %124 to i64, !dbg !114
  %126 = getelementptr inbounds [16 x float], ptr %123, i64 0, i64 %125, !dbg !114
  %127 = load float, ptr %126, align 4, !dbg !114, !tbaa !19
  %128 = fadd contract float %119, %127, !dbg !116
  %129 = load float, ptr %21, align 4, !dbg !117, !tbaa !19
  %130 = fmul contract float 2.000000e+00, %129, !dbg !118
  %131 = fsub contract float %128, %130, !dbg !119
  %132 = fadd contract float %111, %131, !dbg !120
  %133 = load i32, ptr %14, align 4, !dbg !121, !tbaa !9
  %134 = sext i32 %133 to i64, !dbg !122
  %135 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 0, i64 %134, !dbg !122
  %136 = load i32, ptr %13, align 4, !dbg !123, !tbaa !9
  %137 = add nsw i32 %136, 1, !dbg !124
  %138 = sext i32 %137 to i64, !dbg !122
  %139 = getelementptr inbounds [16 x float], ptr %135, i64 0, i64 %138, !dbg !122
  %140 = load float, ptr %139, align 4, !dbg !122, !tbaa !19
  %141 = load i32, ptr %14, align 4, !dbg !125, !tbaa !9
  %142 = sext i32 %141 to i64, !dbg !126
  %143 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 0, i64 %142, !dbg !126
  %144 = load i32, ptr %13, align 4, !dbg !127, !tbaa !9
  %145 = sub nsw i32 %144, 1, !dbg !128
  %146 = sext i32 %145 to i64, !dbg !126
  %147 = getelementptr inbounds [16 x float], ptr %143, i64 0, i64 %146, !dbg !126
  %148 = load float, ptr %147, align 4, !dbg !126, !tbaa !19
  %149 = fadd contract float %140, %148, !dbg !129
  %150 = load float, ptr %21, align 4, !dbg !130, !tbaa !19
  %151 = fmul contract float 2.000000e+00, %150, !dbg !131
  %152 = fsub contract float %149, %151, !dbg !132
  %153 = fadd contract float %132, %152, !dbg !133
  %154 = fmul contract float %96, %153, !dbg !134
  %155 = fadd contract float %95, %154, !dbg !135
  %156 = load i32, ptr %14, align 4, !dbg !136, !tbaa !9
  %157 = sext i32 %156 to i64, !dbg !137
  %158 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4next to ptr), i64 0, i64 %157, !dbg !137
  %159 = load i32, ptr %13, align 4, !dbg !138, !tbaa !9
  %160 = sext i32 %159 to i64, !dbg !137
  %161 = getelementptr inbounds [16 x float], ptr %158, i64 0, i64 %160, !dbg !137
  store float %155, ptr %161, align 4, !dbg !139, !tbaa !19
  call void @llvm.lifetime.end.p0(ptr %21) #5, !dbg !140
  br label %162, !dbg !140

162:                                              ; preds = %87, %84, %79, %75, %70, %66
  call void @_ZL7barrierv() #6, !dbg !141
  %163 = load i32, ptr %19, align 4, !dbg !142, !tbaa !9
  %164 = load i32, ptr %11, align 4, !dbg !143, !tbaa !9
  %165 = sub nsw i32 %164, 1, !dbg !144
  %166 = icmp eq i32 %163, %165, !dbg !145
  br i1 %166, label %167, label %168, !dbg !145

167:                                              ; preds = %162
  store i32 2, ptr %20, align 4
  br label %189, !dbg !146

168:                                              ; preds = %162
  %169 = load i8, ptr %18, align 1, !dbg !147, !tbaa !47, !range !50, !noundef !15
  %170 = trunc i8 %169 to i1, !dbg !147
  br i1 %170, label %171, label %185, !dbg !147

171:                                              ; preds = %168
  %172 = load i32, ptr %14, align 4, !dbg !148, !tbaa !9
  %173 = sext i32 %172 to i64, !dbg !149
  %174 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4next to ptr), i64 0, i64 %173, !dbg !149
  %175 = load i32, ptr %13, align 4, !dbg !150, !tbaa !9
  %176 = sext i32 %175 to i64, !dbg !149
  %177 = getelementptr inbounds [16 x float], ptr %174, i64 0, i64 %176, !dbg !149
  %178 = load float, ptr %177, align 4, !dbg !149, !tbaa !19
  %179 = load i32, ptr %14, align 4, !dbg !151, !tbaa !9
  %180 = sext i32 %179 to i64, !dbg !152
  %181 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4tile to ptr), i64 0, i64 %180, !dbg !152
  %182 = load i32, ptr %13, align 4, !dbg !153, !tbaa !9
  %183 = sext i32 %182 to i64, !dbg !152
  %184 = getelementptr inbounds [16 x float], ptr %181, i64 0, i64 %183, !dbg !152
  store float %178, ptr %184, align 4, !dbg !154, !tbaa !19
  br label %185, !dbg !152

185:                                              ; preds = %171, %168
  call void @_ZL7barrierv() #6, !dbg !155
  br label %186, !dbg !156

186:                                              ; preds = %185
  %187 = load i32, ptr %19, align 4, !dbg !157, !tbaa !9
  %188 = add nsw i32 %187, 1, !dbg !157
  store i32 %188, ptr %19, align 4, !dbg !157, !tbaa !9
  br label %61, !dbg !69, !llvm.loop !158

189:                                              ; preds = %167, %65
  call void @llvm.lifetime.end.p0(ptr %19) #5, !dbg !69
  br label %190

190:                                              ; preds = %189
  %191 = load i8, ptr %18, align 1, !dbg !160, !tbaa !47, !range !50, !noundef !15
  %192 = trunc i8 %191 to i1, !dbg !160
  br i1 %192, label %193, label %209, !dbg !160

193:                                              ; preds = %190
  %194 = load i32, ptr %14, align 4, !dbg !161, !tbaa !9
  %195 = sext i32 %194 to i64, !dbg !162
  %196 = getelementptr inbounds [16 x [16 x float]], ptr addrspacecast (ptr addrspace(3) @_ZZ4heatPKfPfS0_iifE4next to ptr), i64 0, i64 %195, !dbg !162
  %197 = load i32, ptr %13, align 4, !dbg !163, !tbaa !9
  %198 = sext i32 %197 to i64, !dbg !162
  %199 = getelementptr inbounds [16 x float], ptr %196, i64 0, i64 %198, !dbg !162
  %200 = load float, ptr %199, align 4, !dbg !162, !tbaa !19
  %201 = load ptr, ptr %8, align 8, !dbg !164, !tbaa !16
  %202 = load i32, ptr %16, align 4, !dbg !165, !tbaa !9
  %203 = load i32, ptr %10, align 4, !dbg !166, !tbaa !9
  %204 = mul nsw i32 %202, %203, !dbg !167
  %205 = load i32, ptr %15, align 4, !dbg !168, !tbaa !9
  %206 = add nsw i32 %204, %205, !dbg !169
  %207 = sext i32 %206 to i64, !dbg !164
  %208 = getelementptr inbounds float, ptr %201, i64 %207, !dbg !164
  store float %200, ptr %208, align 4, !dbg !170, !tbaa !19
  br label %209, !dbg !164

209:                                              ; preds = %193, %190
  call void @llvm.lifetime.end.p0(ptr %18) #5, !dbg !171
  call void @llvm.lifetime.end.p0(ptr %17) #5, !dbg !171
  call void @llvm.lifetime.end.p0(ptr %16) #5, !dbg !171
  call void @llvm.lifetime.end.p0(ptr %15) #5, !dbg !171
  call void @llvm.lifetime.end.p0(ptr %14) #5, !dbg !171
  call void @llvm.lifetime.end.p0(ptr %13) #5, !dbg !171
  ret void, !dbg !171
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #1

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y() #2

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL5blockv() #3 !dbg !172 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x(), !dbg !174
  ret i32 %1, !dbg !175
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #2

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal void @_ZL7barrierv() #3 !dbg !176 {
  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0), !dbg !177
  ret void, !dbg !178
}

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #1

; Function Attrs: convergent mustprogress noinline norecurse nounwind
define dso_local ptx_kernel void @_Z5pathsPKiS0_Piii(ptr noundef %0, ptr noundef %1, ptr noundef %2, i32 noundef %3, i32 noundef %4) #0 !dbg !179 {
  %6 = alloca ptr, align 8
  %7 = alloca ptr, align 8
  %8 = alloca ptr, align 8
  %9 = alloca i32, align 4
  %10 = alloca i32, align 4
  %11 = alloca i32, align 4
  %12 = alloca i32, align 4
  %13 = alloca i32, align 4
  %14 = alloca i32, align 4
  store ptr %0, ptr %6, align 8, !tbaa !180
  store ptr %1, ptr %7, align 8, !tbaa !180
  store ptr %2, ptr %8, align 8, !tbaa !180
  store i32 %3, ptr %9, align 4, !tbaa !9
  store i32 %4, ptr %10, align 4, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %11) #5, !dbg !182
  %15 = call noundef i32 @_ZL6threadv() #6, !dbg !183
  store i32 %15, ptr %11, align 4, !dbg !184, !tbaa !9
  call void @llvm.lifetime.start.p0(ptr %12) #5, !dbg !182
  %16 = call noundef i32 @_ZL8positionv() #6, !dbg !185
  store i32 %16, ptr %12, align 4, !dbg !186, !tbaa !9
  %17 = load ptr, ptr %7, align 8, !dbg !187, !tbaa !180
  %18 = load i32, ptr %12, align 4, !dbg !188, !tbaa !9
  %19 = load i32, ptr %9, align 4, !dbg !189, !tbaa !9
  %20 = sub nsw i32 %19, 1, !dbg !190
  %21 = call noundef i32 @_ZL5leastIiET_S0_S0_(i32 noundef %18, i32 noundef %20) #6, !dbg !191
  %22 = sext i32 %21 to i64, !dbg !187
  %23 = getelementptr inbounds i32, ptr %17, i64 %22, !dbg !187
  %24 = load i32, ptr %23, align 4, !dbg !187, !tbaa !9
  %25 = load i32, ptr %11, align 4, !dbg !192, !tbaa !9
  %26 = sext i32 %25 to i64, !dbg !193
  %27 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5pathsPKiS0_PiiiE4last to ptr), i64 0, i64 %26, !dbg !193
  store i32 %24, ptr %27, align 4, !dbg !194, !tbaa !9
  call void @_ZL7barrierv() #6, !dbg !195
  call void @llvm.lifetime.start.p0(ptr %13) #5, !dbg !196
  store i32 0, ptr %13, align 4, !dbg !197, !tbaa !9
  br label %28, !dbg !196

28:                                               ; preds = %86, %5
  %29 = load i32, ptr %13, align 4, !dbg !198, !tbaa !9
  %30 = load i32, ptr %10, align 4, !dbg !199, !tbaa !9
  %31 = icmp slt i32 %29, %30, !dbg !200
  br i1 %31, label %33, label %32, !dbg !201

32:                                               ; preds = %28
  call void @llvm.lifetime.end.p0(ptr %13) #5, !dbg !201
  br label %89

33:                                               ; preds = %28
  call void @llvm.lifetime.start.p0(ptr %14) #5, !dbg !202
  %34 = load i32, ptr %11, align 4, !dbg !203, !tbaa !9
  %35 = sext i32 %34 to i64, !dbg !204
  %36 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5pathsPKiS0_PiiiE4last to ptr), i64 0, i64 %35, !dbg !204
  %37 = load i32, ptr %36, align 4, !dbg !204, !tbaa !9
  store i32 %37, ptr %14, align 4, !dbg !205, !tbaa !9
  %38 = load i32, ptr %11, align 4, !dbg !206, !tbaa !9
  %39 = icmp sgt i32 %38, 0, !dbg !207
  br i1 %39, label %40, label %48, !dbg !207

40:                                               ; preds = %33
  %41 = load i32, ptr %14, align 4, !dbg !208, !tbaa !9
  %42 = load i32, ptr %11, align 4, !dbg !209, !tbaa !9
  %43 = sub nsw i32 %42, 1, !dbg !210
  %44 = sext i32 %43 to i64, !dbg !211
  %45 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5pathsPKiS0_PiiiE4last to ptr), i64 0, i64 %44, !dbg !211
  %46 = load i32, ptr %45, align 4, !dbg !211, !tbaa !9
  %47 = call noundef i32 @_ZL5leastIiET_S0_S0_(i32 noundef %41, i32 noundef %46) #6, !dbg !212
  store i32 %47, ptr %14, align 4, !dbg !213, !tbaa !9
  br label %48, !dbg !214

48:                                               ; preds = %40, %33
  %49 = load i32, ptr %11, align 4, !dbg !215, !tbaa !9
  %50 = call noundef i32 @_ZL7threadsv() #6, !dbg !216
  %51 = sub nsw i32 %50, 1, !dbg !217
  %52 = icmp slt i32 %49, %51, !dbg !218
  br i1 %52, label %53, label %61, !dbg !218

53:                                               ; preds = %48
  %54 = load i32, ptr %14, align 4, !dbg !219, !tbaa !9
  %55 = load i32, ptr %11, align 4, !dbg !220, !tbaa !9
  %56 = add nsw i32 %55, 1, !dbg !221
  %57 = sext i32 %56 to i64, !dbg !222
  %58 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5pathsPKiS0_PiiiE4last to ptr), i64 0, i64 %57, !dbg !222
  %59 = load i32, ptr %58, align 4, !dbg !222, !tbaa !9
  %60 = call noundef i32 @_ZL5leastIiET_S0_S0_(i32 noundef %54, i32 noundef %59) #6, !dbg !223
  store i32 %60, ptr %14, align 4, !dbg !224, !tbaa !9
  br label %61, !dbg !225

61:                                               ; preds = %53, %48
  %62 = load i32, ptr %14, align 4, !dbg !226, !tbaa !9
  %63 = load ptr, ptr %6, align 8, !dbg !227, !tbaa !180
  %64 = load i32, ptr %13, align 4, !dbg !228, !tbaa !9
  %65 = load i32, ptr %9, align 4, !dbg !229, !tbaa !9
  %66 = mul nsw i32 %64, %65, !dbg !230
  %67 = load i32, ptr %12, align 4, !dbg !231, !tbaa !9
  %68 = load i32, ptr %9, align 4, !dbg !232, !tbaa !9
  %69 = sub nsw i32 %68, 1, !dbg !233
  %70 = call noundef i32 @_ZL5leastIiET_S0_S0_(i32 noundef %67, i32 noundef %69) #6, !dbg !234
  %71 = add nsw i32 %66, %70, !dbg !235
  %72 = sext i32 %71 to i64, !dbg !227
  %73 = getelementptr inbounds i32, ptr %63, i64 %72, !dbg !227
  %74 = load i32, ptr %73, align 4, !dbg !227, !tbaa !9
  %75 = add nsw i32 %62, %74, !dbg !236
  %76 = load i32, ptr %11, align 4, !dbg !237, !tbaa !9
  %77 = sext i32 %76 to i64, !dbg !238
  %78 = getelementptr inbounds [0 x i32], ptr addrspacecast (ptr addrspace(3) @now to ptr), i64 0, i64 %77, !dbg !238
  store i32 %75, ptr %78, align 4, !dbg !239, !tbaa !9
  call void @_ZL7barrierv() #6, !dbg !240
  %79 = load i32, ptr %11, align 4, !dbg !241, !tbaa !9
  %80 = sext i32 %79 to i64, !dbg !242
  %81 = getelementptr inbounds [0 x i32], ptr addrspacecast (ptr addrspace(3) @now to ptr), i64 0, i64 %80, !dbg !242
  %82 = load i32, ptr %81, align 4, !dbg !242, !tbaa !9
  %83 = load i32, ptr %11, align 4, !dbg !243, !tbaa !9
  %84 = sext i32 %83 to i64, !dbg !244
  %85 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5pathsPKiS0_PiiiE4last to ptr), i64 0, i64 %84, !dbg !244
  store i32 %82, ptr %85, align 4, !dbg !245, !tbaa !9
  call void @_ZL7barrierv() #6, !dbg !246
  call void @llvm.lifetime.end.p0(ptr %14) #5, !dbg !247
  br label %86, !dbg !247

86:                                               ; preds = %61
  %87 = load i32, ptr %13, align 4, !dbg !248, !tbaa !9
  %88 = add nsw i32 %87, 1, !dbg !248
  store i32 %88, ptr %13, align 4, !dbg !248, !tbaa !9
  br label %28, !dbg !201, !llvm.loop !249

89:                                               ; preds = %32
  %90 = load i32, ptr %12, align 4, !dbg !250, !tbaa !9
  %91 = load i32, ptr %9, align 4, !dbg !251, !tbaa !9
  %92 = icmp slt i32 %90, %91, !dbg !252
  br i1 %92, label %93, label %102, !dbg !252

93:                                               ; preds = %89
  %94 = load i32, ptr %11, align 4, !dbg !253, !tbaa !9
  %95 = sext i32 %94 to i64, !dbg !254
  %96 = getelementptr inbounds [256 x i32], ptr addrspacecast (ptr addrspace(3) @_ZZ5pathsPKiS0_PiiiE4last to ptr), i64 0, i64 %95, !dbg !254
  %97 = load i32, ptr %96, align 4, !dbg !254, !tbaa !9
  %98 = load ptr, ptr %8, align 8, !dbg !255, !tbaa !180
  %99 = load i32, ptr %12, align 4, !dbg !256, !tbaa !9
  %100 = sext i32 %99 to i64, !dbg !255
  %101 = getelementptr inbounds i32, ptr %98, i64 %100, !dbg !255
  store i32 %97, ptr %101, align 4, !dbg !257, !tbaa !9
  br label %102, !dbg !255

102:                                              ; preds = %93, %89
  call void @llvm.lifetime.end.p0(ptr %12) #5, !dbg !258
  call void @llvm.lifetime.end.p0(ptr %11) #5, !dbg !258
  ret void, !dbg !258
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL6threadv() #3 !dbg !259 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x(), !dbg !260
  ret i32 %1, !dbg !261
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL8positionv() #3 !dbg !262 {
  %1 = call noundef i32 @_ZL5blockv() #6, !dbg !263
  %2 = call noundef i32 @_ZL7threadsv() #6, !dbg !264
  %3 = mul nsw i32 %1, %2, !dbg !265
  %4 = call noundef i32 @_ZL6threadv() #6, !dbg !266
  %5 = add nsw i32 %3, %4, !dbg !267
  ret i32 %5, !dbg !268
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL5leastIiET_S0_S0_(i32 noundef %0, i32 noundef %1) #3 !dbg !269 {
  %3 = alloca i32, align 4
  %4 = alloca i32, align 4
  store i32 %0, ptr %3, align 4, !tbaa !9
  store i32 %1, ptr %4, align 4, !tbaa !9
  %5 = load i32, ptr %3, align 4, !dbg !270, !tbaa !9
  %6 = load i32, ptr %4, align 4, !dbg !271, !tbaa !9
  %7 = icmp slt i32 %5, %6, !dbg !272
  br i1 %7, label %8, label %10, !dbg !270

8:                                                ; preds = %2
  %9 = load i32, ptr %3, align 4, !dbg !273, !tbaa !9
  br label %12, !dbg !270

10:                                               ; preds = %2
  %11 = load i32, ptr %4, align 4, !dbg !274, !tbaa !9
  br label %12, !dbg !270

12:                                               ; preds = %10, %8
  %13 = phi i32 [ %9, %8 ], [ %11, %10 ], !dbg !270
  ret i32 %13, !dbg !275
}

; Function Attrs: alwaysinline convergent mustprogress nounwind
define internal noundef i32 @_ZL7threadsv() #3 !dbg !276 {
  %1 = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x(), !dbg !277
  ret i32 %1, !dbg !278
}

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #4

; Function Attrs: nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #2

attributes #0 = { convergent mustprogress noinline norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" "uniform-work-group-size"="true" }
attributes #1 = { nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #2 = { nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { alwaysinline convergent mustprogress nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #4 = { convergent nocallback nounwind }
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
!7 = !DIFile(filename: "stencil.cu", directory: ".")
!8 = !{!"clang version 22.1.8"}
!9 = !{!10, !10, i64 0}
!10 = !{!"int", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C++ TBAA"}
!13 = distinct !DISubprogram(name: "heat", scope: !7, file: !7, line: 6, type: !14, scopeLine: 6, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!14 = !DISubroutineType(types: !15)
!15 = !{}
!16 = !{!17, !17, i64 0}
!17 = !{!"p1 float", !18, i64 0}
!18 = !{!"any pointer", !11, i64 0}
!19 = !{!20, !20, i64 0}
!20 = !{!"float", !11, i64 0}
!21 = !DILocation(line: 9, column: 3, scope: !13)
!22 = !DILocation(line: 9, column: 11, scope: !13)
!23 = !DILocation(line: 9, column: 7, scope: !13)
!24 = !DILocation(line: 9, column: 45, scope: !13)
!25 = !DILocation(line: 9, column: 41, scope: !13)
!26 = !DILocation(line: 10, column: 3, scope: !13)
!27 = !DILocation(line: 10, column: 16, scope: !13)
!28 = !DILocation(line: 10, column: 24, scope: !13)
!29 = !DILocation(line: 10, column: 33, scope: !13)
!30 = !DILocation(line: 10, column: 31, scope: !13)
!31 = !DILocation(line: 10, column: 7, scope: !13)
!32 = !DILocation(line: 10, column: 42, scope: !13)
!33 = !DILocation(line: 10, column: 73, scope: !13)
!34 = !DILocation(line: 10, column: 82, scope: !13)
!35 = !DILocation(line: 10, column: 80, scope: !13)
!36 = !DILocation(line: 10, column: 36, scope: !13)
!37 = !DILocation(line: 11, column: 3, scope: !13)
!38 = !DILocation(line: 11, column: 17, scope: !13)
!39 = !DILocation(line: 11, column: 26, scope: !13)
!40 = !DILocation(line: 11, column: 24, scope: !13)
!41 = !DILocation(line: 11, column: 28, scope: !13)
!42 = !DILocation(line: 11, column: 31, scope: !13)
!43 = !DILocation(line: 11, column: 37, scope: !13)
!44 = !DILocation(line: 11, column: 35, scope: !13)
!45 = !DILocation(line: 0, scope: !13)
!46 = !DILocation(line: 11, column: 8, scope: !13)
!47 = !{!48, !48, i64 0}
!48 = !{!"bool", !11, i64 0}
!49 = !DILocation(line: 12, column: 7, scope: !13)
!50 = !{i8 0, i8 2}
!51 = !DILocation(line: 12, column: 28, scope: !13)
!52 = !DILocation(line: 12, column: 31, scope: !13)
!53 = !DILocation(line: 12, column: 37, scope: !13)
!54 = !DILocation(line: 12, column: 35, scope: !13)
!55 = !DILocation(line: 12, column: 41, scope: !13)
!56 = !DILocation(line: 12, column: 39, scope: !13)
!57 = !DILocation(line: 12, column: 20, scope: !13)
!58 = !DILocation(line: 12, column: 15, scope: !13)
!59 = !DILocation(line: 12, column: 23, scope: !13)
!60 = !DILocation(line: 12, column: 26, scope: !13)
!61 = !DILocation(line: 13, column: 3, scope: !13)
!62 = !DILocation(line: 14, column: 3, scope: !13)
!63 = !DILocation(line: 14, column: 8, scope: !13)
!64 = !DILocation(line: 15, column: 8, scope: !13)
!65 = !DILocation(line: 15, column: 12, scope: !13)
!66 = !DILocation(line: 15, column: 19, scope: !13)
!67 = !DILocation(line: 15, column: 23, scope: !13)
!68 = !DILocation(line: 15, column: 21, scope: !13)
!69 = !DILocation(line: 15, column: 3, scope: !13)
!70 = !DILocation(line: 16, column: 14, scope: !13)
!71 = !DILocation(line: 17, column: 9, scope: !13)
!72 = !DILocation(line: 17, column: 13, scope: !13)
!73 = !DILocation(line: 17, column: 11, scope: !13)
!74 = !DILocation(line: 17, column: 15, scope: !13)
!75 = !DILocation(line: 17, column: 18, scope: !13)
!76 = !DILocation(line: 17, column: 33, scope: !13)
!77 = !DILocation(line: 17, column: 31, scope: !13)
!78 = !DILocation(line: 17, column: 20, scope: !13)
!79 = !DILocation(line: 17, column: 35, scope: !13)
!80 = !DILocation(line: 17, column: 38, scope: !13)
!81 = !DILocation(line: 17, column: 42, scope: !13)
!82 = !DILocation(line: 17, column: 40, scope: !13)
!83 = !DILocation(line: 17, column: 44, scope: !13)
!84 = !DILocation(line: 17, column: 47, scope: !13)
!85 = !DILocation(line: 17, column: 62, scope: !13)
!86 = !DILocation(line: 17, column: 60, scope: !13)
!87 = !DILocation(line: 17, column: 49, scope: !13)
!88 = !DILocation(line: 17, column: 64, scope: !13)
!89 = !DILocation(line: 17, column: 67, scope: !13)
!90 = !DILocation(line: 18, column: 16, scope: !13)
!91 = !DILocation(line: 19, column: 7, scope: !13)
!92 = !DILocation(line: 19, column: 27, scope: !13)
!93 = !DILocation(line: 19, column: 22, scope: !13)
!94 = !DILocation(line: 19, column: 30, scope: !13)
!95 = !DILocation(line: 19, column: 13, scope: !13)
!96 = !DILocation(line: 20, column: 20, scope: !13)
!97 = !DILocation(line: 20, column: 29, scope: !13)
!98 = !DILocation(line: 20, column: 38, scope: !13)
!99 = !DILocation(line: 20, column: 44, scope: !13)
!100 = !DILocation(line: 20, column: 50, scope: !13)
!101 = !DILocation(line: 20, column: 48, scope: !13)
!102 = !DILocation(line: 20, column: 54, scope: !13)
!103 = !DILocation(line: 20, column: 52, scope: !13)
!104 = !DILocation(line: 20, column: 77, scope: !13)
!105 = !DILocation(line: 20, column: 79, scope: !13)
!106 = !DILocation(line: 20, column: 64, scope: !13)
!107 = !DILocation(line: 20, column: 62, scope: !13)
!108 = !DILocation(line: 21, column: 28, scope: !13)
!109 = !DILocation(line: 21, column: 30, scope: !13)
!110 = !DILocation(line: 21, column: 23, scope: !13)
!111 = !DILocation(line: 21, column: 35, scope: !13)
!112 = !DILocation(line: 21, column: 45, scope: !13)
!113 = !DILocation(line: 21, column: 47, scope: !13)
!114 = !DILocation(line: 21, column: 40, scope: !13)
!115 = !DILocation(line: 21, column: 52, scope: !13)
!116 = !DILocation(line: 21, column: 38, scope: !13)
!117 = !DILocation(line: 21, column: 64, scope: !13)
!118 = !DILocation(line: 21, column: 62, scope: !13)
!119 = !DILocation(line: 21, column: 55, scope: !13)
!120 = !DILocation(line: 21, column: 20, scope: !13)
!121 = !DILocation(line: 22, column: 28, scope: !13)
!122 = !DILocation(line: 22, column: 23, scope: !13)
!123 = !DILocation(line: 22, column: 31, scope: !13)
!124 = !DILocation(line: 22, column: 33, scope: !13)
!125 = !DILocation(line: 22, column: 45, scope: !13)
!126 = !DILocation(line: 22, column: 40, scope: !13)
!127 = !DILocation(line: 22, column: 48, scope: !13)
!128 = !DILocation(line: 22, column: 50, scope: !13)
!129 = !DILocation(line: 22, column: 38, scope: !13)
!130 = !DILocation(line: 22, column: 64, scope: !13)
!131 = !DILocation(line: 22, column: 62, scope: !13)
!132 = !DILocation(line: 22, column: 55, scope: !13)
!133 = !DILocation(line: 22, column: 20, scope: !13)
!134 = !DILocation(line: 20, column: 35, scope: !13)
!135 = !DILocation(line: 20, column: 27, scope: !13)
!136 = !DILocation(line: 20, column: 12, scope: !13)
!137 = !DILocation(line: 20, column: 7, scope: !13)
!138 = !DILocation(line: 20, column: 15, scope: !13)
!139 = !DILocation(line: 20, column: 18, scope: !13)
!140 = !DILocation(line: 23, column: 5, scope: !13)
!141 = !DILocation(line: 24, column: 5, scope: !13)
!142 = !DILocation(line: 25, column: 9, scope: !13)
!143 = !DILocation(line: 25, column: 14, scope: !13)
!144 = !DILocation(line: 25, column: 20, scope: !13)
!145 = !DILocation(line: 25, column: 11, scope: !13)
!146 = !DILocation(line: 25, column: 25, scope: !13)
!147 = !DILocation(line: 26, column: 9, scope: !13)
!148 = !DILocation(line: 26, column: 37, scope: !13)
!149 = !DILocation(line: 26, column: 32, scope: !13)
!150 = !DILocation(line: 26, column: 40, scope: !13)
!151 = !DILocation(line: 26, column: 24, scope: !13)
!152 = !DILocation(line: 26, column: 19, scope: !13)
!153 = !DILocation(line: 26, column: 27, scope: !13)
!154 = !DILocation(line: 26, column: 30, scope: !13)
!155 = !DILocation(line: 27, column: 5, scope: !13)
!156 = !DILocation(line: 28, column: 3, scope: !13)
!157 = !DILocation(line: 15, column: 31, scope: !13)
!158 = distinct !{!158, !69, !156, !159}
!159 = !{!"llvm.loop.mustprogress"}
!160 = !DILocation(line: 29, column: 7, scope: !13)
!161 = !DILocation(line: 29, column: 46, scope: !13)
!162 = !DILocation(line: 29, column: 41, scope: !13)
!163 = !DILocation(line: 29, column: 49, scope: !13)
!164 = !DILocation(line: 29, column: 17, scope: !13)
!165 = !DILocation(line: 29, column: 21, scope: !13)
!166 = !DILocation(line: 29, column: 27, scope: !13)
!167 = !DILocation(line: 29, column: 25, scope: !13)
!168 = !DILocation(line: 29, column: 31, scope: !13)
!169 = !DILocation(line: 29, column: 29, scope: !13)
!170 = !DILocation(line: 29, column: 39, scope: !13)
!171 = !DILocation(line: 30, column: 1, scope: !13)
!172 = distinct !DISubprogram(name: "block", scope: !173, file: !173, line: 14, type: !14, scopeLine: 14, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!173 = !DIFile(filename: "./device.h", directory: ".")
!174 = !DILocation(line: 14, column: 29, scope: !172)
!175 = !DILocation(line: 14, column: 22, scope: !172)
!176 = distinct !DISubprogram(name: "barrier", scope: !173, file: !173, line: 17, type: !14, scopeLine: 17, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!177 = !DILocation(line: 17, column: 25, scope: !176)
!178 = !DILocation(line: 17, column: 42, scope: !176)
!179 = distinct !DISubprogram(name: "paths", scope: !7, file: !7, line: 32, type: !14, scopeLine: 32, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!180 = !{!181, !181, i64 0}
!181 = !{!"p1 int", !18, i64 0}
!182 = !DILocation(line: 35, column: 3, scope: !179)
!183 = !DILocation(line: 35, column: 11, scope: !179)
!184 = !DILocation(line: 35, column: 7, scope: !179)
!185 = !DILocation(line: 35, column: 30, scope: !179)
!186 = !DILocation(line: 35, column: 21, scope: !179)
!187 = !DILocation(line: 36, column: 13, scope: !179)
!188 = !DILocation(line: 36, column: 26, scope: !179)
!189 = !DILocation(line: 36, column: 34, scope: !179)
!190 = !DILocation(line: 36, column: 40, scope: !179)
!191 = !DILocation(line: 36, column: 20, scope: !179)
!192 = !DILocation(line: 36, column: 8, scope: !179)
!193 = !DILocation(line: 36, column: 3, scope: !179)
!194 = !DILocation(line: 36, column: 11, scope: !179)
!195 = !DILocation(line: 37, column: 3, scope: !179)
!196 = !DILocation(line: 38, column: 8, scope: !179)
!197 = !DILocation(line: 38, column: 12, scope: !179)
!198 = !DILocation(line: 38, column: 19, scope: !179)
!199 = !DILocation(line: 38, column: 23, scope: !179)
!200 = !DILocation(line: 38, column: 21, scope: !179)
!201 = !DILocation(line: 38, column: 3, scope: !179)
!202 = !DILocation(line: 39, column: 5, scope: !179)
!203 = !DILocation(line: 39, column: 21, scope: !179)
!204 = !DILocation(line: 39, column: 16, scope: !179)
!205 = !DILocation(line: 39, column: 9, scope: !179)
!206 = !DILocation(line: 40, column: 9, scope: !179)
!207 = !DILocation(line: 40, column: 11, scope: !179)
!208 = !DILocation(line: 40, column: 29, scope: !179)
!209 = !DILocation(line: 40, column: 40, scope: !179)
!210 = !DILocation(line: 40, column: 42, scope: !179)
!211 = !DILocation(line: 40, column: 35, scope: !179)
!212 = !DILocation(line: 40, column: 23, scope: !179)
!213 = !DILocation(line: 40, column: 21, scope: !179)
!214 = !DILocation(line: 40, column: 16, scope: !179)
!215 = !DILocation(line: 41, column: 9, scope: !179)
!216 = !DILocation(line: 41, column: 13, scope: !179)
!217 = !DILocation(line: 41, column: 23, scope: !179)
!218 = !DILocation(line: 41, column: 11, scope: !179)
!219 = !DILocation(line: 41, column: 41, scope: !179)
!220 = !DILocation(line: 41, column: 52, scope: !179)
!221 = !DILocation(line: 41, column: 54, scope: !179)
!222 = !DILocation(line: 41, column: 47, scope: !179)
!223 = !DILocation(line: 41, column: 35, scope: !179)
!224 = !DILocation(line: 41, column: 33, scope: !179)
!225 = !DILocation(line: 41, column: 28, scope: !179)
!226 = !DILocation(line: 42, column: 14, scope: !179)
!227 = !DILocation(line: 42, column: 21, scope: !179)
!228 = !DILocation(line: 42, column: 26, scope: !179)
!229 = !DILocation(line: 42, column: 30, scope: !179)
!230 = !DILocation(line: 42, column: 28, scope: !179)
!231 = !DILocation(line: 42, column: 44, scope: !179)
!232 = !DILocation(line: 42, column: 52, scope: !179)
!233 = !DILocation(line: 42, column: 58, scope: !179)
!234 = !DILocation(line: 42, column: 38, scope: !179)
!235 = !DILocation(line: 42, column: 36, scope: !179)
!236 = !DILocation(line: 42, column: 19, scope: !179)
!237 = !DILocation(line: 42, column: 9, scope: !179)
!238 = !DILocation(line: 42, column: 5, scope: !179)
!239 = !DILocation(line: 42, column: 12, scope: !179)
!240 = !DILocation(line: 43, column: 5, scope: !179)
!241 = !DILocation(line: 44, column: 19, scope: !179)
!242 = !DILocation(line: 44, column: 15, scope: !179)
!243 = !DILocation(line: 44, column: 10, scope: !179)
!244 = !DILocation(line: 44, column: 5, scope: !179)
!245 = !DILocation(line: 44, column: 13, scope: !179)
!246 = !DILocation(line: 45, column: 5, scope: !179)
!247 = !DILocation(line: 46, column: 3, scope: !179)
!248 = !DILocation(line: 38, column: 32, scope: !179)
!249 = distinct !{!249, !201, !247, !159}
!250 = !DILocation(line: 47, column: 7, scope: !179)
!251 = !DILocation(line: 47, column: 16, scope: !179)
!252 = !DILocation(line: 47, column: 14, scope: !179)
!253 = !DILocation(line: 47, column: 44, scope: !179)
!254 = !DILocation(line: 47, column: 39, scope: !179)
!255 = !DILocation(line: 47, column: 23, scope: !179)
!256 = !DILocation(line: 47, column: 29, scope: !179)
!257 = !DILocation(line: 47, column: 37, scope: !179)
!258 = !DILocation(line: 48, column: 1, scope: !179)
!259 = distinct !DISubprogram(name: "thread", scope: !173, file: !173, line: 13, type: !14, scopeLine: 13, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!260 = !DILocation(line: 13, column: 30, scope: !259)
!261 = !DILocation(line: 13, column: 23, scope: !259)
!262 = distinct !DISubprogram(name: "position", scope: !173, file: !173, line: 16, type: !14, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!263 = !DILocation(line: 16, column: 32, scope: !262)
!264 = !DILocation(line: 16, column: 42, scope: !262)
!265 = !DILocation(line: 16, column: 40, scope: !262)
!266 = !DILocation(line: 16, column: 54, scope: !262)
!267 = !DILocation(line: 16, column: 52, scope: !262)
!268 = !DILocation(line: 16, column: 25, scope: !262)
!269 = distinct !DISubprogram(name: "least<int>", scope: !173, file: !173, line: 21, type: !14, scopeLine: 21, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!270 = !DILocation(line: 21, column: 57, scope: !269)
!271 = !DILocation(line: 21, column: 61, scope: !269)
!272 = !DILocation(line: 21, column: 59, scope: !269)
!273 = !DILocation(line: 21, column: 65, scope: !269)
!274 = !DILocation(line: 21, column: 69, scope: !269)
!275 = !DILocation(line: 21, column: 50, scope: !269)
!276 = distinct !DISubprogram(name: "threads", scope: !173, file: !173, line: 15, type: !14, scopeLine: 15, flags: DIFlagPrototyped, spFlags: DISPFlagLocalToUnit | DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!277 = !DILocation(line: 15, column: 31, scope: !276)
!278 = !DILocation(line: 15, column: 24, scope: !276)
