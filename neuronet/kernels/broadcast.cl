// broadcast.cl: one table added to every sample of a batch.
//
//   y[n,i] = x[n,i] + table[i]
//
// Used by   ops/broadcast.py     Checked against   reference/broadcast.py
// NeuroNet  SumMatrix, as CNeuronPositionEncoder calls it

// grid: size/8, batch
__kernel BY8 void SumTable(
    __global const float *x,        // [batch, size]
    __global const float *table,    // [size]
    __global float *y,              // [batch, size]
    const int size)
{
    const int i = 8 * get_global_id(0), at = get_global_id(1) * size + i;
    store8(load8(x + at, size - i) + load8(table + i, size - i), y + at, size - i);
}
