; ModuleID = '<string>'
source_filename = "control.cu"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none)
define dso_local noundef range(i32 -2, -4) i32 @_Z8classifyi(i32 noundef %0) local_unnamed_addr #0 !dbg !13 {
  switch i32 %0, label %7 [
    i32 0, label %11
    i32 3, label %2
    i32 4, label %2
    i32 7, label %4
    i32 8, label %5
    i32 1000000, label %6
  ], !dbg !16

2:                                                ; preds = %1, %1
  %3 = mul nuw nsw i32 %0, 3, !dbg !17
  br label %11, !dbg !18

4:                                                ; preds = %1
  br label %11, !dbg !19

5:                                                ; preds = %1
  br label %11, !dbg !20

6:                                                ; preds = %1
  br label %11, !dbg !21

7:                                                ; preds = %1
  %8 = icmp slt i32 %0, 0, !dbg !22
  %9 = sub nsw i32 0, %0, !dbg !23
  %10 = select i1 %8, i32 %9, i32 77, !dbg !23
  br label %11, !dbg !24

11:                                               ; preds = %4, %1, %7, %6, %5, %2
  %.07 = phi i32 [ %10, %7 ], [ -1, %6 ], [ %3, %2 ], [ 5, %1 ], [ 9, %4 ], [ 8, %5 ], !dbg !25
  ret i32 %.07, !dbg !26
}

; Function Attrs: mustprogress nofree nosync nounwind willreturn memory(none)
define dso_local noundef range(i32 -2147483647, -2147483648) i32 @_Z5depthi(i32 noundef %0) local_unnamed_addr #1 !dbg !27 {
  %2 = icmp slt i32 %0, 2, !dbg !28
  br i1 %2, label %tailrecurse._crit_edge, label %tailrecurse.preheader, !dbg !29

tailrecurse.preheader:                            ; preds = %1
  %3 = add nsw i32 %0, -2, !dbg !29
  %4 = lshr i32 %3, 1, !dbg !29
  %5 = add nuw i32 %4, 1, !dbg !29
  %xtraiter = and i32 %5, 7, !dbg !29
  %6 = icmp ult i32 %3, 14, !dbg !29
  br i1 %6, label %tailrecurse.epil.preheader, label %tailrecurse.preheader.new, !dbg !29

tailrecurse.preheader.new:                        ; preds = %tailrecurse.preheader
  %unroll_iter = and i32 %5, -8, !dbg !29
  br label %tailrecurse, !dbg !29

tailrecurse:                                      ; preds = %tailrecurse, %tailrecurse.preheader.new
  %.tr4 = phi i32 [ %0, %tailrecurse.preheader.new ], [ %35, %tailrecurse ]
  %accumulator.tr3 = phi i32 [ 0, %tailrecurse.preheader.new ], [ %38, %tailrecurse ]
  %niter = phi i32 [ 0, %tailrecurse.preheader.new ], [ %niter.next.7, %tailrecurse ]
  %7 = add nsw i32 %.tr4, -2
  %8 = lshr i32 %.tr4, 1
  %9 = tail call noundef i32 @_Z5depthi(i32 noundef %8) #9, !dbg !30
  %10 = add nsw i32 %9, %accumulator.tr3, !dbg !31
  %11 = add nsw i32 %.tr4, -4
  %12 = lshr i32 %7, 1
  %13 = tail call noundef i32 @_Z5depthi(i32 noundef %12) #9, !dbg !30
  %14 = add nsw i32 %13, %10, !dbg !31
  %15 = add nsw i32 %.tr4, -6
  %16 = lshr i32 %11, 1
  %17 = tail call noundef i32 @_Z5depthi(i32 noundef %16) #9, !dbg !30
  %18 = add nsw i32 %17, %14, !dbg !31
  %19 = add nsw i32 %.tr4, -8
  %20 = lshr i32 %15, 1
  %21 = tail call noundef i32 @_Z5depthi(i32 noundef %20) #9, !dbg !30
  %22 = add nsw i32 %21, %18, !dbg !31
  %23 = add nsw i32 %.tr4, -10
  %24 = lshr i32 %19, 1
  %25 = tail call noundef i32 @_Z5depthi(i32 noundef %24) #9, !dbg !30
  %26 = add nsw i32 %25, %22, !dbg !31
  %27 = add nsw i32 %.tr4, -12
  %28 = lshr i32 %23, 1
  %29 = tail call noundef i32 @_Z5depthi(i32 noundef %28) #9, !dbg !30
  %30 = add nsw i32 %29, %26, !dbg !31
  %31 = add nsw i32 %.tr4, -14
  %32 = lshr i32 %27, 1
  %33 = tail call noundef i32 @_Z5depthi(i32 noundef %32) #9, !dbg !30
  %34 = add nsw i32 %33, %30, !dbg !31
  %35 = add nsw i32 %.tr4, -16
  %36 = lshr i32 %31, 1
  %37 = tail call noundef i32 @_Z5depthi(i32 noundef %36) #9, !dbg !30
  %38 = add nsw i32 %37, %34, !dbg !31
  %niter.next.7 = add i32 %niter, 8, !dbg !29
  %niter.ncmp.7 = icmp eq i32 %niter.next.7, %unroll_iter, !dbg !29
  br i1 %niter.ncmp.7, label %tailrecurse._crit_edge.loopexit.unr-lcssa, label %tailrecurse, !dbg !29

tailrecurse._crit_edge.loopexit.unr-lcssa:        ; preds = %tailrecurse
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0, !dbg !29
  br i1 %lcmp.mod.not, label %tailrecurse._crit_edge.loopexit, label %tailrecurse.epil.preheader, !dbg !29

tailrecurse.epil.preheader:                       ; preds = %tailrecurse._crit_edge.loopexit.unr-lcssa, %tailrecurse.preheader
  %.tr4.epil.init = phi i32 [ %0, %tailrecurse.preheader ], [ %35, %tailrecurse._crit_edge.loopexit.unr-lcssa ]
  %accumulator.tr3.epil.init = phi i32 [ 0, %tailrecurse.preheader ], [ %38, %tailrecurse._crit_edge.loopexit.unr-lcssa ]
  %lcmp.mod6 = icmp ne i32 %xtraiter, 0, !dbg !29
  tail call void @llvm.assume(i1 %lcmp.mod6), !dbg !29
  br label %tailrecurse.epil, !dbg !29

tailrecurse.epil:                                 ; preds = %tailrecurse.epil, %tailrecurse.epil.preheader
  %.tr4.epil = phi i32 [ %39, %tailrecurse.epil ], [ %.tr4.epil.init, %tailrecurse.epil.preheader ]
  %accumulator.tr3.epil = phi i32 [ %42, %tailrecurse.epil ], [ %accumulator.tr3.epil.init, %tailrecurse.epil.preheader ]
  %epil.iter = phi i32 [ %epil.iter.next, %tailrecurse.epil ], [ 0, %tailrecurse.epil.preheader ]
  %39 = add nsw i32 %.tr4.epil, -2
  %40 = lshr i32 %.tr4.epil, 1
  %41 = tail call noundef i32 @_Z5depthi(i32 noundef %40) #9, !dbg !30
  %42 = add nsw i32 %41, %accumulator.tr3.epil, !dbg !31
  %epil.iter.next = add i32 %epil.iter, 1, !dbg !29
  %epil.iter.cmp.not = icmp eq i32 %epil.iter.next, %xtraiter, !dbg !29
  br i1 %epil.iter.cmp.not, label %tailrecurse._crit_edge.loopexit, label %tailrecurse.epil, !dbg !29, !llvm.loop !32

tailrecurse._crit_edge.loopexit:                  ; preds = %tailrecurse.epil, %tailrecurse._crit_edge.loopexit.unr-lcssa
  %.lcssa = phi i32 [ %38, %tailrecurse._crit_edge.loopexit.unr-lcssa ], [ %42, %tailrecurse.epil ], !dbg !31
  %43 = add nsw i32 %.lcssa, 1
  br label %tailrecurse._crit_edge

tailrecurse._crit_edge:                           ; preds = %tailrecurse._crit_edge.loopexit, %1
  %accumulator.tr.lcssa = phi i32 [ 1, %1 ], [ %43, %tailrecurse._crit_edge.loopexit ]
  ret i32 %accumulator.tr.lcssa, !dbg !34
}

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define dso_local ptx_kernel void @_Z6nestedPfiPi(ptr noundef captures(none) %0, i32 noundef %1, ptr noundef captures(none) %2) local_unnamed_addr #2 !dbg !35 {
  %4 = alloca [8 x i32], align 4
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #9, !dbg !36
  call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(32) %4, i8 0, i64 32, i1 false), !dbg !37
  %5 = icmp sgt i32 %1, 0, !dbg !38
  br i1 %5, label %.preheader30.preheader, label %.preheader, !dbg !39

.preheader30.preheader:                           ; preds = %3
  %xtraiter = and i32 %1, 1, !dbg !39
  %6 = icmp eq i32 %1, 1, !dbg !39
  br i1 %6, label %.preheader30.epil.preheader, label %.preheader30.preheader.new, !dbg !39

.preheader30.preheader.new:                       ; preds = %.preheader30.preheader
  %unroll_iter = and i32 %1, 2147483646, !dbg !39
  br label %.preheader30, !dbg !39

.preheader30:                                     ; preds = %154, %.preheader30.preheader.new
  %.02833 = phi i32 [ 0, %.preheader30.preheader.new ], [ %155, %154 ]
  %niter = phi i32 [ 0, %.preheader30.preheader.new ], [ %niter.next.1, %154 ]
  %7 = mul nuw nsw i32 %.02833, %1
  br label %100, !dbg !40

.preheader.loopexit.unr-lcssa:                    ; preds = %154
  %lcmp.mod.not = icmp eq i32 %xtraiter, 0, !dbg !40
  br i1 %lcmp.mod.not, label %.preheader.loopexit, label %.preheader30.epil.preheader, !dbg !40

.preheader30.epil.preheader:                      ; preds = %.preheader.loopexit.unr-lcssa, %.preheader30.preheader
  %.02833.epil.init = phi i32 [ 0, %.preheader30.preheader ], [ %155, %.preheader.loopexit.unr-lcssa ]
  %lcmp.mod53 = icmp ne i32 %xtraiter, 0, !dbg !40
  tail call void @llvm.assume(i1 %lcmp.mod53), !dbg !40
  %8 = mul nuw nsw i32 %.02833.epil.init, %1
  br label %9, !dbg !40

9:                                                ; preds = %27, %.preheader30.epil.preheader
  %.02731.epil = phi i32 [ 0, %.preheader30.epil.preheader ], [ %28, %27 ]
  %10 = add nuw nsw i32 %.02731.epil, %8, !dbg !41
  %11 = zext nneg i32 %10 to i64, !dbg !42
  %12 = getelementptr inbounds nuw float, ptr %0, i64 %11, !dbg !42
  %13 = load float, ptr %12, align 4, !dbg !42, !tbaa !43
  %14 = fcmp contract olt float %13, 0.000000e+00, !dbg !45
  br i1 %14, label %27, label %15, !dbg !45

15:                                               ; preds = %9
  %16 = zext nneg i32 %.02731.epil to i64, !dbg !46
  %17 = getelementptr inbounds nuw float, ptr %0, i64 %16, !dbg !46
  %18 = load float, ptr %17, align 4, !dbg !46, !tbaa !43
  %19 = fcmp contract ogt float %18, 1.000000e+02, !dbg !47
  br i1 %19, label %._crit_edge.epil, label %20, !dbg !47

20:                                               ; preds = %15
  %21 = add nuw nsw i32 %.02731.epil, %.02833.epil.init, !dbg !48
  %22 = and i32 %21, 7, !dbg !49
  %23 = zext nneg i32 %22 to i64, !dbg !50
  %24 = getelementptr inbounds nuw i32, ptr %4, i64 %23, !dbg !50
  %25 = load i32, ptr %24, align 4, !dbg !51, !tbaa !9
  %26 = add nsw i32 %25, %.02731.epil, !dbg !51
  store i32 %26, ptr %24, align 4, !dbg !51, !tbaa !9
  br label %27, !dbg !52

27:                                               ; preds = %20, %9
  %28 = add nuw nsw i32 %.02731.epil, 1, !dbg !53
  %exitcond.not.epil = icmp eq i32 %28, %1, !dbg !54
  br i1 %exitcond.not.epil, label %._crit_edge.epil, label %9, !dbg !40, !llvm.loop !55

._crit_edge.epil:                                 ; preds = %27, %15
  %29 = zext nneg i32 %.02833.epil.init to i64
  %30 = getelementptr inbounds nuw float, ptr %0, i64 %29
  %.promoted.epil = load float, ptr %30, align 4, !tbaa !43
  br label %31, !dbg !57

31:                                               ; preds = %31, %._crit_edge.epil
  %32 = phi float [ %33, %31 ], [ %.promoted.epil, %._crit_edge.epil ], !dbg !58
  %33 = fmul contract float %32, 5.000000e-01, !dbg !58
  %34 = fcmp contract ogt float %33, 1.000000e+00, !dbg !59
  br i1 %34, label %31, label %.preheader.loopexit.epilog-lcssa, !dbg !60, !llvm.loop !61

.preheader.loopexit.epilog-lcssa:                 ; preds = %31
  store float %33, ptr %30, align 4, !dbg !58, !tbaa !43
  br label %.preheader.loopexit, !dbg !63

.preheader.loopexit:                              ; preds = %.preheader.loopexit.unr-lcssa, %.preheader.loopexit.epilog-lcssa
  %.pre = load i32, ptr %4, align 4, !dbg !63, !tbaa !9
  %.phi.trans.insert = getelementptr inbounds nuw i8, ptr %4, i64 4
  %.pre37 = load i32, ptr %.phi.trans.insert, align 4, !dbg !63, !tbaa !9
  %.phi.trans.insert38 = getelementptr inbounds nuw i8, ptr %4, i64 8
  %.pre39 = load i32, ptr %.phi.trans.insert38, align 4, !dbg !63, !tbaa !9
  %.phi.trans.insert40 = getelementptr inbounds nuw i8, ptr %4, i64 12
  %.pre41 = load i32, ptr %.phi.trans.insert40, align 4, !dbg !63, !tbaa !9
  %.phi.trans.insert42 = getelementptr inbounds nuw i8, ptr %4, i64 16
  %.pre43 = load i32, ptr %.phi.trans.insert42, align 4, !dbg !63, !tbaa !9
  %.phi.trans.insert44 = getelementptr inbounds nuw i8, ptr %4, i64 20
  %.pre45 = load i32, ptr %.phi.trans.insert44, align 4, !dbg !63, !tbaa !9
  %.phi.trans.insert46 = getelementptr inbounds nuw i8, ptr %4, i64 24
  %.pre47 = load i32, ptr %.phi.trans.insert46, align 4, !dbg !63, !tbaa !9
  %.phi.trans.insert48 = getelementptr inbounds nuw i8, ptr %4, i64 28
  %.pre49 = load i32, ptr %.phi.trans.insert48, align 4, !dbg !63, !tbaa !9
  br label %.preheader, !dbg !64

.preheader:                                       ; preds = %.preheader.loopexit, %3
  %35 = phi i32 [ %.pre49, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %36 = phi i32 [ %.pre47, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %37 = phi i32 [ %.pre45, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %38 = phi i32 [ %.pre43, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %39 = phi i32 [ %.pre41, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %40 = phi i32 [ %.pre39, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %41 = phi i32 [ %.pre37, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %42 = phi i32 [ %.pre, %.preheader.loopexit ], [ 0, %3 ], !dbg !63
  %43 = getelementptr inbounds nuw i8, ptr %2, i64 32, !dbg !65
  %44 = load i32, ptr %43, align 4, !dbg !65, !tbaa !9
  %45 = tail call noundef i32 @_Z8classifyi(i32 noundef %44) #9, !dbg !66
  %46 = add nsw i32 %45, %42, !dbg !67
  %47 = load i32, ptr %2, align 4, !dbg !68, !tbaa !9
  %48 = add nsw i32 %46, %47, !dbg !68
  store i32 %48, ptr %2, align 4, !dbg !68, !tbaa !9
  %49 = getelementptr inbounds nuw i8, ptr %2, i64 4, !dbg !65
  %50 = getelementptr inbounds nuw i8, ptr %2, i64 36, !dbg !65
  %51 = load i32, ptr %50, align 4, !dbg !65, !tbaa !9
  %52 = tail call noundef i32 @_Z8classifyi(i32 noundef %51) #9, !dbg !66
  %53 = add nsw i32 %52, %41, !dbg !67
  %54 = load i32, ptr %49, align 4, !dbg !68, !tbaa !9
  %55 = add nsw i32 %53, %54, !dbg !68
  store i32 %55, ptr %49, align 4, !dbg !68, !tbaa !9
  %56 = getelementptr inbounds nuw i8, ptr %2, i64 8, !dbg !65
  %57 = getelementptr inbounds nuw i8, ptr %2, i64 40, !dbg !65
  %58 = load i32, ptr %57, align 4, !dbg !65, !tbaa !9
  %59 = tail call noundef i32 @_Z8classifyi(i32 noundef %58) #9, !dbg !66
  %60 = add nsw i32 %59, %40, !dbg !67
  %61 = load i32, ptr %56, align 4, !dbg !68, !tbaa !9
  %62 = add nsw i32 %60, %61, !dbg !68
  store i32 %62, ptr %56, align 4, !dbg !68, !tbaa !9
  %63 = getelementptr inbounds nuw i8, ptr %2, i64 12, !dbg !65
  %64 = getelementptr inbounds nuw i8, ptr %2, i64 44, !dbg !65
  %65 = load i32, ptr %64, align 4, !dbg !65, !tbaa !9
  %66 = tail call noundef i32 @_Z8classifyi(i32 noundef %65) #9, !dbg !66
  %67 = add nsw i32 %66, %39, !dbg !67
  %68 = load i32, ptr %63, align 4, !dbg !68, !tbaa !9
  %69 = add nsw i32 %67, %68, !dbg !68
  store i32 %69, ptr %63, align 4, !dbg !68, !tbaa !9
  %70 = getelementptr inbounds nuw i8, ptr %2, i64 16, !dbg !65
  %71 = getelementptr inbounds nuw i8, ptr %2, i64 48, !dbg !65
  %72 = load i32, ptr %71, align 4, !dbg !65, !tbaa !9
  %73 = tail call noundef i32 @_Z8classifyi(i32 noundef %72) #9, !dbg !66
  %74 = add nsw i32 %73, %38, !dbg !67
  %75 = load i32, ptr %70, align 4, !dbg !68, !tbaa !9
  %76 = add nsw i32 %74, %75, !dbg !68
  store i32 %76, ptr %70, align 4, !dbg !68, !tbaa !9
  %77 = getelementptr inbounds nuw i8, ptr %2, i64 20, !dbg !65
  %78 = getelementptr inbounds nuw i8, ptr %2, i64 52, !dbg !65
  %79 = load i32, ptr %78, align 4, !dbg !65, !tbaa !9
  %80 = tail call noundef i32 @_Z8classifyi(i32 noundef %79) #9, !dbg !66
  %81 = add nsw i32 %80, %37, !dbg !67
  %82 = load i32, ptr %77, align 4, !dbg !68, !tbaa !9
  %83 = add nsw i32 %81, %82, !dbg !68
  store i32 %83, ptr %77, align 4, !dbg !68, !tbaa !9
  %84 = getelementptr inbounds nuw i8, ptr %2, i64 24, !dbg !65
  %85 = getelementptr inbounds nuw i8, ptr %2, i64 56, !dbg !65
  %86 = load i32, ptr %85, align 4, !dbg !65, !tbaa !9
  %87 = tail call noundef i32 @_Z8classifyi(i32 noundef %86) #9, !dbg !66
  %88 = add nsw i32 %87, %36, !dbg !67
  %89 = load i32, ptr %84, align 4, !dbg !68, !tbaa !9
  %90 = add nsw i32 %88, %89, !dbg !68
  store i32 %90, ptr %84, align 4, !dbg !68, !tbaa !9
  %91 = getelementptr inbounds nuw i8, ptr %2, i64 28, !dbg !65
  %92 = getelementptr inbounds nuw i8, ptr %2, i64 60, !dbg !65
  %93 = load i32, ptr %92, align 4, !dbg !65, !tbaa !9
  %94 = tail call noundef i32 @_Z8classifyi(i32 noundef %93) #9, !dbg !66
  %95 = add nsw i32 %94, %35, !dbg !67
  %96 = load i32, ptr %91, align 4, !dbg !68, !tbaa !9
  %97 = add nsw i32 %95, %96, !dbg !68
  store i32 %97, ptr %91, align 4, !dbg !68, !tbaa !9
  %98 = tail call noundef i32 @_Z5depthi(i32 noundef %58) #9, !dbg !69
  %99 = getelementptr inbounds nuw i8, ptr %2, i64 36, !dbg !70
  store i32 %98, ptr %99, align 4, !dbg !71, !tbaa !9
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #9, !dbg !72
  ret void, !dbg !72

100:                                              ; preds = %.preheader30, %118
  %.02731 = phi i32 [ 0, %.preheader30 ], [ %119, %118 ]
  %101 = add nuw nsw i32 %.02731, %7, !dbg !41
  %102 = zext nneg i32 %101 to i64, !dbg !42
  %103 = getelementptr inbounds nuw float, ptr %0, i64 %102, !dbg !42
  %104 = load float, ptr %103, align 4, !dbg !42, !tbaa !43
  %105 = fcmp contract olt float %104, 0.000000e+00, !dbg !45
  br i1 %105, label %118, label %106, !dbg !45

106:                                              ; preds = %100
  %107 = zext nneg i32 %.02731 to i64, !dbg !46
  %108 = getelementptr inbounds nuw float, ptr %0, i64 %107, !dbg !46
  %109 = load float, ptr %108, align 4, !dbg !46, !tbaa !43
  %110 = fcmp contract ogt float %109, 1.000000e+02, !dbg !47
  br i1 %110, label %._crit_edge, label %111, !dbg !47

111:                                              ; preds = %106
  %112 = add nuw nsw i32 %.02731, %.02833, !dbg !48
  %113 = and i32 %112, 7, !dbg !49
  %114 = zext nneg i32 %113 to i64, !dbg !50
  %115 = getelementptr inbounds nuw i32, ptr %4, i64 %114, !dbg !50
  %116 = load i32, ptr %115, align 4, !dbg !51, !tbaa !9
  %117 = add nsw i32 %116, %.02731, !dbg !51
  store i32 %117, ptr %115, align 4, !dbg !51, !tbaa !9
  br label %118, !dbg !52

118:                                              ; preds = %100, %111
  %119 = add nuw nsw i32 %.02731, 1, !dbg !53
  %exitcond.not = icmp eq i32 %119, %1, !dbg !54
  br i1 %exitcond.not, label %._crit_edge, label %100, !dbg !40, !llvm.loop !55

._crit_edge:                                      ; preds = %118, %106
  %120 = zext nneg i32 %.02833 to i64
  %121 = getelementptr inbounds nuw float, ptr %0, i64 %120
  %.promoted = load float, ptr %121, align 4, !tbaa !43
  br label %122, !dbg !57

122:                                              ; preds = %122, %._crit_edge
  %123 = phi float [ %124, %122 ], [ %.promoted, %._crit_edge ], !dbg !58
  %124 = fmul contract float %123, 5.000000e-01, !dbg !58
  %125 = fcmp contract ogt float %124, 1.000000e+00, !dbg !59
  br i1 %125, label %122, label %.preheader30.1, !dbg !60, !llvm.loop !61

.preheader30.1:                                   ; preds = %122
  store float %124, ptr %121, align 4, !dbg !58, !tbaa !43
  %126 = or disjoint i32 %.02833, 1, !dbg !73
  %127 = mul nuw nsw i32 %126, %1
  br label %128, !dbg !40

128:                                              ; preds = %146, %.preheader30.1
  %.02731.1 = phi i32 [ 0, %.preheader30.1 ], [ %147, %146 ]
  %129 = add nuw nsw i32 %.02731.1, %127, !dbg !41
  %130 = zext nneg i32 %129 to i64, !dbg !42
  %131 = getelementptr inbounds nuw float, ptr %0, i64 %130, !dbg !42
  %132 = load float, ptr %131, align 4, !dbg !42, !tbaa !43
  %133 = fcmp contract olt float %132, 0.000000e+00, !dbg !45
  br i1 %133, label %146, label %134, !dbg !45

134:                                              ; preds = %128
  %135 = zext nneg i32 %.02731.1 to i64, !dbg !46
  %136 = getelementptr inbounds nuw float, ptr %0, i64 %135, !dbg !46
  %137 = load float, ptr %136, align 4, !dbg !46, !tbaa !43
  %138 = fcmp contract ogt float %137, 1.000000e+02, !dbg !47
  br i1 %138, label %._crit_edge.1, label %139, !dbg !47

139:                                              ; preds = %134
  %140 = add nuw nsw i32 %.02731.1, %126, !dbg !48
  %141 = and i32 %140, 7, !dbg !49
  %142 = zext nneg i32 %141 to i64, !dbg !50
  %143 = getelementptr inbounds nuw i32, ptr %4, i64 %142, !dbg !50
  %144 = load i32, ptr %143, align 4, !dbg !51, !tbaa !9
  %145 = add nsw i32 %144, %.02731.1, !dbg !51
  store i32 %145, ptr %143, align 4, !dbg !51, !tbaa !9
  br label %146, !dbg !52

146:                                              ; preds = %139, %128
  %147 = add nuw nsw i32 %.02731.1, 1, !dbg !53
  %exitcond.not.1 = icmp eq i32 %147, %1, !dbg !54
  br i1 %exitcond.not.1, label %._crit_edge.1, label %128, !dbg !40, !llvm.loop !55

._crit_edge.1:                                    ; preds = %146, %134
  %148 = zext nneg i32 %126 to i64
  %149 = getelementptr inbounds nuw float, ptr %0, i64 %148
  %.promoted.1 = load float, ptr %149, align 4, !tbaa !43
  br label %150, !dbg !57

150:                                              ; preds = %150, %._crit_edge.1
  %151 = phi float [ %152, %150 ], [ %.promoted.1, %._crit_edge.1 ], !dbg !58
  %152 = fmul contract float %151, 5.000000e-01, !dbg !58
  %153 = fcmp contract ogt float %152, 1.000000e+00, !dbg !59
  br i1 %153, label %150, label %154, !dbg !60, !llvm.loop !61

154:                                              ; preds = %150
  store float %152, ptr %149, align 4, !dbg !58, !tbaa !43
  %155 = add nuw nsw i32 %.02833, 2, !dbg !73
  %niter.next.1 = add i32 %niter, 2, !dbg !39
  %niter.ncmp.1 = icmp eq i32 %niter.next.1, %unroll_iter, !dbg !39
  br i1 %niter.ncmp.1, label %.preheader.loopexit.unr-lcssa, label %.preheader30, !dbg !39, !llvm.loop !74
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #3

; Function Attrs: mustprogress nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #4

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #3

; Function Attrs: mustprogress nofree noinline norecurse nosync nounwind memory(argmem: readwrite)
define dso_local ptx_kernel void @_Z11two_entriesPiib(ptr noundef captures(none) %0, i32 noundef %1, i1 noundef zeroext %2) local_unnamed_addr #2 !dbg !76 {
  br i1 %2, label %._crit_edge, label %4, !dbg !77

._crit_edge:                                      ; preds = %3
  %.pre = load i32, ptr %0, align 4, !dbg !78, !tbaa !9
  br label %9, !dbg !77

4:                                                ; preds = %9, %3
  %.1 = phi i32 [ %12, %9 ], [ 0, %3 ], !dbg !79
  %5 = sext i32 %.1 to i64, !dbg !80
  %6 = getelementptr inbounds i32, ptr %0, i64 %5, !dbg !80
  %7 = load i32, ptr %6, align 4, !dbg !81, !tbaa !9
  %8 = add nsw i32 %7, 1, !dbg !81
  store i32 %8, ptr %6, align 4, !dbg !81, !tbaa !9
  %.not = icmp slt i32 %7, %1, !dbg !82
  br i1 %.not, label %9, label %14, !dbg !82

9:                                                ; preds = %._crit_edge, %4
  %10 = phi i32 [ %.pre, %._crit_edge ], [ %8, %4 ], !dbg !78
  %.0 = phi i32 [ 0, %._crit_edge ], [ %.1, %4 ], !dbg !79
  %11 = and i32 %10, 3, !dbg !83
  %12 = add nsw i32 %11, %.0, !dbg !84
  %13 = icmp slt i32 %12, %1, !dbg !85
  br i1 %13, label %4, label %14, !dbg !85

14:                                               ; preds = %9, %4
  %.2 = phi i32 [ %.1, %4 ], [ %12, %9 ], !dbg !84
  store i32 %.2, ptr %0, align 4, !dbg !86, !tbaa !9
  ret void, !dbg !87
}

; Function Attrs: convergent mustprogress noinline norecurse nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)
define dso_local ptx_kernel void @_Z4endsPilt(ptr noundef captures(none) %0, i64 noundef %1, i16 noundef zeroext %2) local_unnamed_addr #5 !dbg !88 {
  %4 = load i32, ptr %0, align 4, !dbg !89, !tbaa !9
  switch i32 %4, label %.preheader [
    i32 0, label %11
    i32 1, label %12
  ], !dbg !90

.preheader:                                       ; preds = %3
  %5 = zext i16 %2 to i32
  %6 = add nuw nsw i32 %5, 1
  %7 = and i32 %5, 31
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds nuw i8, ptr %0, i64 4
  %10 = and i32 %5, 3
  br label %13, !dbg !91

11:                                               ; preds = %3
  tail call void @llvm.nvvm.exit(), !dbg !92
  unreachable, !dbg !92

12:                                               ; preds = %3
  tail call void @llvm.trap(), !dbg !93
  unreachable, !dbg !93

13:                                               ; preds = %.preheader, %34
  %14 = phi i32 [ %35, %34 ], [ %4, %.preheader ]
  %.018 = phi i64 [ %.1, %34 ], [ %1, %.preheader ]
  %15 = or i32 %14, 1, !dbg !94
  %16 = sext i32 %15 to i64, !dbg !95
  %17 = sdiv i64 %.018, %16, !dbg !96
  %18 = trunc i64 %.018 to i32, !dbg !97
  %19 = urem i32 %18, %6, !dbg !98
  %20 = icmp ne i64 %17, 5, !dbg !99
  %21 = icmp ne i32 %19, 9
  %or.cond.not = and i1 %20, %21, !dbg !91
  br i1 %or.cond.not, label %25, label %22, !dbg !91

22:                                               ; preds = %13
  %23 = shl i64 %17, %8, !dbg !100
  %24 = trunc i64 %23 to i32, !dbg !101
  store i32 %24, ptr %9, align 4, !dbg !102, !tbaa !9
  br label %34, !dbg !103

25:                                               ; preds = %13
  switch i32 %10, label %30 [
    i32 0, label %26
    i32 1, label %28
  ], !dbg !104

26:                                               ; preds = %25
  %27 = add nsw i64 %.018, -3, !dbg !105
  br label %32, !dbg !106

28:                                               ; preds = %25
  %29 = xor i64 %.018, 9, !dbg !107
  br label %32, !dbg !108

30:                                               ; preds = %25
  %31 = ashr i64 %.018, 1, !dbg !109
  br label %32, !dbg !110

32:                                               ; preds = %30, %28, %26
  %.2 = phi i64 [ %31, %30 ], [ %27, %26 ], [ %29, %28 ], !dbg !111
  %33 = trunc i64 %.2 to i32, !dbg !112
  store i32 %33, ptr %0, align 4, !dbg !113, !tbaa !9
  br label %34, !dbg !114

34:                                               ; preds = %32, %22
  %35 = phi i32 [ %14, %22 ], [ %33, %32 ]
  %.1 = phi i64 [ %.018, %22 ], [ %.2, %32 ]
  br i1 %or.cond.not, label %13, label %36

36:                                               ; preds = %34
  ret void, !dbg !115
}

; Function Attrs: convergent noreturn nounwind memory(inaccessiblemem: readwrite)
declare void @llvm.nvvm.exit() #6

; Function Attrs: cold noreturn nounwind memory(inaccessiblemem: write)
declare void @llvm.trap() #7

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write)
declare void @llvm.assume(i1 noundef) #8

attributes #0 = { mustprogress nofree noinline norecurse nosync nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #1 = { mustprogress nofree nosync nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" }
attributes #2 = { mustprogress nofree noinline norecurse nosync nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" "uniform-work-group-size"="true" }
attributes #3 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #4 = { mustprogress nocallback nofree nounwind willreturn memory(argmem: write) }
attributes #5 = { convergent mustprogress noinline norecurse nounwind memory(argmem: readwrite, inaccessiblemem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_70" "target-features"="+ptx88,+sm_70" "uniform-work-group-size"="true" }
attributes #6 = { convergent noreturn nounwind memory(inaccessiblemem: readwrite) }
attributes #7 = { cold noreturn nounwind memory(inaccessiblemem: write) }
attributes #8 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: write) }
attributes #9 = { nounwind }

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
!16 = !DILocation(line: 4, column: 3, scope: !13)
!17 = !DILocation(line: 6, column: 30, scope: !13)
!18 = !DILocation(line: 6, column: 21, scope: !13)
!19 = !DILocation(line: 7, column: 13, scope: !13)
!20 = !DILocation(line: 8, column: 13, scope: !13)
!21 = !DILocation(line: 9, column: 19, scope: !13)
!22 = !DILocation(line: 10, column: 23, scope: !13)
!23 = !DILocation(line: 10, column: 21, scope: !13)
!24 = !DILocation(line: 10, column: 14, scope: !13)
!25 = !DILocation(line: 0, scope: !13)
!26 = !DILocation(line: 12, column: 1, scope: !13)
!27 = distinct !DISubprogram(name: "depth", scope: !7, file: !7, line: 14, type: !14, scopeLine: 14, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!28 = !DILocation(line: 14, column: 40, scope: !27)
!29 = !DILocation(line: 14, column: 38, scope: !27)
!30 = !DILocation(line: 14, column: 51, scope: !27)
!31 = !DILocation(line: 14, column: 64, scope: !27)
!32 = distinct !{!32, !33}
!33 = !{!"llvm.loop.unroll.disable"}
!34 = !DILocation(line: 14, column: 31, scope: !27)
!35 = distinct !DISubprogram(name: "nested", scope: !7, file: !7, line: 16, type: !14, scopeLine: 16, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!36 = !DILocation(line: 17, column: 3, scope: !35)
!37 = !DILocation(line: 17, column: 7, scope: !35)
!38 = !DILocation(line: 18, column: 21, scope: !35)
!39 = !DILocation(line: 18, column: 3, scope: !35)
!40 = !DILocation(line: 19, column: 5, scope: !35)
!41 = !DILocation(line: 20, column: 19, scope: !35)
!42 = !DILocation(line: 20, column: 11, scope: !35)
!43 = !{!44, !44, i64 0}
!44 = !{!"float", !11, i64 0}
!45 = !DILocation(line: 20, column: 24, scope: !35)
!46 = !DILocation(line: 21, column: 11, scope: !35)
!47 = !DILocation(line: 21, column: 16, scope: !35)
!48 = !DILocation(line: 22, column: 17, scope: !35)
!49 = !DILocation(line: 22, column: 22, scope: !35)
!50 = !DILocation(line: 22, column: 7, scope: !35)
!51 = !DILocation(line: 22, column: 27, scope: !35)
!52 = !DILocation(line: 23, column: 5, scope: !35)
!53 = !DILocation(line: 19, column: 28, scope: !35)
!54 = !DILocation(line: 19, column: 23, scope: !35)
!55 = distinct !{!55, !40, !52, !56}
!56 = !{!"llvm.loop.mustprogress"}
!57 = !DILocation(line: 24, column: 5, scope: !35)
!58 = !DILocation(line: 24, column: 15, scope: !35)
!59 = !DILocation(line: 24, column: 38, scope: !35)
!60 = !DILocation(line: 24, column: 24, scope: !35)
!61 = distinct !{!61, !57, !62, !56}
!62 = !DILocation(line: 24, column: 43, scope: !35)
!63 = !DILocation(line: 27, column: 41, scope: !35)
!64 = !DILocation(line: 27, column: 3, scope: !35)
!65 = !DILocation(line: 27, column: 62, scope: !35)
!66 = !DILocation(line: 27, column: 53, scope: !35)
!67 = !DILocation(line: 27, column: 51, scope: !35)
!68 = !DILocation(line: 27, column: 38, scope: !35)
!69 = !DILocation(line: 28, column: 12, scope: !35)
!70 = !DILocation(line: 28, column: 3, scope: !35)
!71 = !DILocation(line: 28, column: 10, scope: !35)
!72 = !DILocation(line: 29, column: 1, scope: !35)
!73 = !DILocation(line: 18, column: 26, scope: !35)
!74 = distinct !{!74, !39, !75, !56}
!75 = !DILocation(line: 25, column: 3, scope: !35)
!76 = distinct !DISubprogram(name: "two_entries", scope: !7, file: !7, line: 31, type: !14, scopeLine: 31, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!77 = !DILocation(line: 33, column: 7, scope: !76)
!78 = !DILocation(line: 38, column: 8, scope: !76)
!79 = !DILocation(line: 0, scope: !76)
!80 = !DILocation(line: 35, column: 3, scope: !76)
!81 = !DILocation(line: 35, column: 8, scope: !76)
!82 = !DILocation(line: 36, column: 12, scope: !76)
!83 = !DILocation(line: 38, column: 13, scope: !76)
!84 = !DILocation(line: 38, column: 5, scope: !76)
!85 = !DILocation(line: 39, column: 9, scope: !76)
!86 = !DILocation(line: 41, column: 8, scope: !76)
!87 = !DILocation(line: 42, column: 1, scope: !76)
!88 = distinct !DISubprogram(name: "ends", scope: !7, file: !7, line: 44, type: !14, scopeLine: 44, flags: DIFlagPrototyped, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !6)
!89 = !DILocation(line: 45, column: 7, scope: !88)
!90 = !DILocation(line: 45, column: 10, scope: !88)
!91 = !DILocation(line: 50, column: 16, scope: !88)
!92 = !DILocation(line: 45, column: 16, scope: !88)
!93 = !DILocation(line: 46, column: 16, scope: !88)
!94 = !DILocation(line: 48, column: 22, scope: !88)
!95 = !DILocation(line: 48, column: 18, scope: !88)
!96 = !DILocation(line: 48, column: 16, scope: !88)
!97 = !DILocation(line: 49, column: 28, scope: !88)
!98 = !DILocation(line: 49, column: 30, scope: !88)
!99 = !DILocation(line: 50, column: 11, scope: !88)
!100 = !DILocation(line: 50, column: 44, scope: !88)
!101 = !DILocation(line: 50, column: 41, scope: !88)
!102 = !DILocation(line: 50, column: 34, scope: !88)
!103 = !DILocation(line: 50, column: 58, scope: !88)
!104 = !DILocation(line: 51, column: 5, scope: !88)
!105 = !DILocation(line: 51, column: 32, scope: !88)
!106 = !DILocation(line: 51, column: 38, scope: !88)
!107 = !DILocation(line: 51, column: 55, scope: !88)
!108 = !DILocation(line: 51, column: 61, scope: !88)
!109 = !DILocation(line: 51, column: 79, scope: !88)
!110 = !DILocation(line: 51, column: 86, scope: !88)
!111 = !DILocation(line: 51, scope: !88)
!112 = !DILocation(line: 52, column: 15, scope: !88)
!113 = !DILocation(line: 52, column: 8, scope: !88)
!114 = !DILocation(line: 53, column: 3, scope: !88)
!115 = !DILocation(line: 54, column: 1, scope: !88)
