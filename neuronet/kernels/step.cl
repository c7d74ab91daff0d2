// step.cl: the first launch of every training step: moves the counters and loads the rates of the step.
//
// step[0]  training steps done in the life of the net; keys random numbers
// step[1]  index of the batch within the epoch, from 0; the host sets it to -1 between epochs
// step[2]  batch at which a loss was not finite for the first time, or -1
//
// Used by   ops/step.py          Checked against   reference/step.py

// grid: 1
__kernel void NextStep(
    __global const float *table,    // [steps, columns] one row a batch of the epoch
    __global float *hyper,          // [hyper]          see common.cl; [HYPER_GO] is left alone
    __global int *step,             // [4]
    const int columns, const int rates)
{
    const int index = step[1] + 1;
    step[0] += 1;
    step[1] = index;
    for (int k = 0; k < rates; ++k) hyper[k] = table[index * columns + k];
}

// The last ``rates`` columns of the present row, the very last of them says whether to update: not where
// hyper says that a loss was not finite.
// grid: 1
__kernel void SlowRates(
    __global const float *table,    // [steps, columns]
    __global const float *hyper,    // [rates]
    __global const int *step,       // [4]
    __global float *slow,           // [rates]
    const int columns, const int rates)
{
    __global const float *row = table + (step[1] + 1) * columns - rates;
    for (int k = 0; k < rates; ++k) slow[k] = row[k];
    if (hyper[HYPER_GO] == 0.0f) slow[HYPER_GO] = 0.0f;
}

// The next batch of a pass that trains nothing: only the index moves.
// grid: 1
__kernel void NextBatch(
    __global int *step)             // [4]
{
    step[1] += 1;
}
