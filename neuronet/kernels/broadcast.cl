// broadcast.cl: one table added to every sample of a batch.
//
//   y[n,i] = x[n,i] + table[i]
//
// Used by   ops/broadcast.py     Checked against   reference/broadcast.py
// NeuroNet  SumMatrix, as CNeuronPositionEncoder calls it

// grid: size, batch
__kernel void SumTable(
    __global const float *x,        // [batch, size]
    __global const float *table,    // [size]
    __global float *y,              // [batch, size]
    const int size)
{
    const int i = get_global_id(0), n = get_global_id(1);
    y[n * size + i] = x[n * size + i] + table[i];
}
