// loss.cl: the value of a loss and its gradient for the output layer, in one launch.
//
//   loss[0] += rows * mean        loss[1] = mean over all elements of the batch
//   dy = d mean / dy
//
// One work-group of 256 sums in a fixed order. When the mean is not finite, hyper[HYPER_GO] becomes
// 0, so that no weight changes any more, and step[2] remembers the batch.
//
// Used by   ops/loss.py          Checked against   reference/loss.py
// NeuroNet  CalcOutputGradient (here dL/dy of the mean, never scaled by the error or clamped)

#define GROUP 256
#define SHARED 64    // work-items of a stretch
#define LOSS_MSE   0
#define LOSS_MAE   1
#define LOSS_HUBER 2

void finish_loss(float sum, __local float *sums, int count, int rows,
                 __global float *loss, __global float *hyper, __global int *step)
{
    const int id = get_local_id(0);
    sums[id] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = GROUP / 2; half_size > 0; half_size /= 2) {
        if (id < half_size) sums[id] += sums[id + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0) {
        const float mean = sums[0] / count;
        loss[0] += mean * rows;
        loss[1] = mean;
        if (!isfinite(mean) && hyper[HYPER_GO] != 0.0f) {
            hyper[HYPER_GO] = 0.0f;
            step[2] = step[1];
        }
    }
}

// The slope of one loss at e, and its value added to *sum.
static float8 slope8(const float8 e, const int kind, const float delta, float8 *sum)
{
    const float8 a = fabs(e);
    if (kind == LOSS_MSE) {
        *sum += e * e;
        return 2.0f * e;
    }
    if (kind == LOSS_MAE) {
        *sum += a;
        return sign(e);
    }
    *sum += a > delta ? delta * (a - 0.5f * delta) : 0.5f * e * e;
    return a > delta ? delta * sign(e) : e;
}

// group: 256
// grid: 256
__kernel BY8 void CalcOutputGradient(
    __global const float *y,        // [batch, outputs]
    __global const float *target,   // [batch, outputs]
    __global float *dy,             // [batch, outputs]
    __global float *loss,           // [2]
    __global float *hyper,          // [hyper]
    __global int *step,             // [4]
    const int batch, const int outputs, const int kind, const float delta)
{
    __local float sums[GROUP];
    const int count = batch * outputs;
    float8 sum = 0.0f;
    for (int i = 8 * get_local_id(0); i < count; i += 8 * GROUP) {
        const float8 e = load8(y + i, count - i) - load8(target + i, count - i);
        store8(slope8(e, kind, delta, &sum) / count, dy + i, count - i);
    }
    finish_loss(sum8(sum), sums, count, batch, loss, hyper, step);
}

// The same for many values: each work-group takes a stretch of them and leaves its sum in parts.
// group: 64
// grid: parts*64
__kernel BY8 void OutputGradientParts(
    __global const float *y,        // [count]
    __global const float *target,   // [count]
    __global float *dy,             // [count]
    __global float *sums,           // [parts]
    const int count, const int parts, const int kind, const float delta)
{
    __local float scratch[SHARED];
    const int id = get_local_id(0), length = (count + parts - 1) / parts;
    const int first = get_group_id(0) * length, last = min(first + length, count);
    float8 sum = 0.0f;
    for (int i = first + 8 * id; i < last; i += 8 * SHARED) {
        const float8 e = load8(y + i, last - i) - load8(target + i, last - i);
        store8(slope8(e, kind, delta, &sum) / count, dy + i, last - i);
    }
    scratch[id] = sum8(sum);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int half_size = SHARED / 2; half_size > 0; half_size /= 2) {
        if (id < half_size) scratch[id] += scratch[id + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (id == 0) sums[get_group_id(0)] = scratch[0];
}

// A CPU walks through a stretch once, in its order.
// group: 1
// grid: parts
__kernel BY8 void OutputGradientPartsCPU(
    __global const float *y,        // [count]
    __global const float *target,   // [count]
    __global float *dy,             // [count]
    __global float *sums,           // [parts]
    const int count, const int parts, const int kind, const float delta)
{
    const int length = (count + parts - 1) / parts, first = get_global_id(0) * length;
    const int last = min(first + length, count);
    float8 sum = 0.0f;
    for (int i = first; i < last; i += 8) {
        const float8 e = load8(y + i, last - i) - load8(target + i, last - i);
        store8(slope8(e, kind, delta, &sum) / count, dy + i, last - i);
    }
    sums[get_global_id(0)] = sum8(sum);
}

// Behind OutputGradientParts: the loss of the batch.
// group: 256
// grid: 256
__kernel void FinishLoss(
    __global const float *sums,     // [parts]
    __global float *loss,           // [2]
    __global float *hyper,          // [hyper]
    __global int *step,             // [4]
    const int parts, const int count, const int rows)
{
    __local float scratch[GROUP];
    float sum = 0.0f;
    for (int i = get_local_id(0); i < parts; i += GROUP)
        sum += sums[i];
    finish_loss(sum, scratch, count, rows, loss, hyper, step);
}

// A layer's own term of the loss, one value a sample, on top of what a loss has left.
// group: 256
// grid: 256
__kernel void AddPenalty(
    __global const float *penalty,  // [batch]
    __global float *loss,           // [2]
    __global float *hyper,          // [hyper]
    __global int *step,             // [4]
    const int batch)
{
    __local float sums[GROUP];
    const float before = get_local_id(0) == 0 ? loss[1] : 0.0f;    // work-item 0 alone reads and writes it
    float sum = 0.0f;
    for (int n = get_local_id(0); n < batch; n += GROUP)
        sum += penalty[n];
    finish_loss(sum, sums, batch, batch, loss, hyper, step);
    if (get_local_id(0) == 0) loss[1] += before;
}

// Pinball loss: y holds one value for each quantile level of each target.
// group: 256
// grid: 256
__kernel void CalcOutputGradientQuantile(
    __global const float *y,        // [batch, outputs, quantiles]
    __global const float *target,   // [batch, outputs]
    __global const float *levels,   // [quantiles]
    __global float *dy,             // [batch, outputs, quantiles]
    __global float *loss,           // [2]
    __global float *hyper,          // [hyper]
    __global int *step,             // [4]
    const int batch, const int outputs, const int quantiles)
{
    __local float sums[GROUP];
    const int count = batch * outputs * quantiles;
    float sum = 0.0f;
    for (int i = get_local_id(0); i < count; i += GROUP) {
        const float level = levels[i % quantiles], e = target[i / quantiles] - y[i];
        sum += e > 0.0f ? level * e : (level - 1.0f) * e;
        dy[i] = (e > 0.0f ? -level : e < 0.0f ? 1.0f - level : 0.0f) / count;
    }
    finish_loss(sum, sums, count, batch, loss, hyper, step);
}

// Cross entropy of softmax(y); the largest logit is subtracted first.
// group: 256
// grid: 256
__kernel void CalcOutputGradientCrossEntropy(
    __global const float *y,        // [batch, classes]
    __global const int *target,     // [batch]
    __global float *dy,             // [batch, classes]
    __global float *loss,           // [2]
    __global float *hyper,          // [hyper]
    __global int *step,             // [4]
    const int batch, const int classes)
{
    __local float sums[GROUP];
    float sum = 0.0f;
    for (int n = get_local_id(0); n < batch; n += GROUP) {
        __global const float *row = y + n * classes;
        float top = row[0], total = 0.0f;
        for (int c = 1; c < classes; ++c) top = fmax(top, row[c]);
        for (int c = 0; c < classes; ++c) total += exp(row[c] - top);
        sum += log(total) - (row[target[n]] - top);
        for (int c = 0; c < classes; ++c)
            dy[n * classes + c] = (exp(row[c] - top) / total - (c == target[n] ? 1.0f : 0.0f)) / batch;
    }
    finish_loss(sum, sums, batch, batch, loss, hyper, step);
}

// Trading: a row's position is p = tanh(y), in time order. A row of target is the return of holding 1 for the
// next bar, the cost of changing the position by 1, and 1 where the row before it is the bar before it.
//   value = cost |p[n] - p[n-1]| - return p[n]
// group: 256
// grid: 256
__kernel void CalcOutputGradientPolicy(
    __global const float *y,        // [batch]
    __global const float *target,   // [batch, 3]
    __global float *dy,             // [batch]
    __global float *loss,           // [2]
    __global float *hyper,          // [hyper]
    __global int *step,             // [4]
    const int batch)
{
    __local float sums[GROUP];
    float sum = 0.0f;
    for (int n = get_local_id(0); n < batch; n += GROUP) {
        const float p = tanh(y[n]), gain = target[3 * n];
        float dp = -gain;
        sum -= gain * p;
        if (n > 0 && target[3 * n + 2] != 0.0f) {
            const float change = p - tanh(y[n - 1]), cost = target[3 * n + 1];
            sum += cost * fabs(change);
            dp += cost * sign(change);
        }
        if (n + 1 < batch && target[3 * n + 5] != 0.0f)
            dp -= target[3 * n + 4] * sign(tanh(y[n + 1]) - p);
        dy[n] = dp * (1.0f - p * p) / batch;
    }
    finish_loss(sum, sums, batch, batch, loss, hyper, step);
}

// An action: y holds logits of three classes and two quantities, a row of target the class and the quantities.
//   value = cross entropy + weight * mean Huber loss of the two
// group: 256
// grid: 256
__kernel void CalcOutputGradientAction(
    __global const float *y,        // [batch, 5]
    __global const float *target,   // [batch, 3]
    __global float *dy,             // [batch, 5]
    __global float *loss,           // [2]
    __global float *hyper,          // [hyper]
    __global int *step,             // [4]
    const int batch, const float weight, const float delta)
{
    __local float sums[GROUP];
    float sum = 0.0f;
    for (int n = get_local_id(0); n < batch; n += GROUP) {
        __global const float *row = y + 5 * n, *truth = target + 3 * n;
        __global float *slope = dy + 5 * n;
        const float top = fmax(row[0], fmax(row[1], row[2]));
        const float total = exp(row[0] - top) + exp(row[1] - top) + exp(row[2] - top);
        sum += log(total);
        for (int c = 0; c < 3; ++c) {
            const int came = truth[0] == c;
            if (came) sum -= row[c] - top;
            slope[c] = (exp(row[c] - top) / total - came) / batch;
        }
        for (int q = 0; q < 2; ++q) {
            const float e = row[3 + q] - truth[1 + q], a = fabs(e);
            sum += 0.5f * weight * (a > delta ? delta * (a - 0.5f * delta) : 0.5f * e * e);
            slope[3 + q] = 0.5f * weight * (a > delta ? delta * sign(e) : e) / batch;
        }
    }
    finish_loss(sum, sums, batch, batch, loss, hyper, step);
}
