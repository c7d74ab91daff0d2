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

// group: 256
// grid: 256
__kernel void CalcOutputGradient(
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
    float sum = 0.0f;
    for (int i = get_local_id(0); i < count; i += GROUP) {
        const float e = y[i] - target[i], a = fabs(e);
        if (kind == LOSS_MSE) {
            sum += e * e;
            dy[i] = 2.0f * e / count;
        } else if (kind == LOSS_MAE || a > delta) {
            sum += kind == LOSS_MAE ? a : delta * (a - 0.5f * delta);
            dy[i] = sign(e) * (kind == LOSS_MAE ? 1.0f : delta) / count;
        } else {
            sum += 0.5f * e * e;
            dy[i] = e / count;
        }
    }
    finish_loss(sum, sums, count, batch, loss, hyper, step);
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
