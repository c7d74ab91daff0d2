// soft_update.cl: a target network follows another one.
//
// Used by   ops/soft_update.py   Checked against   reference/soft_update.py
// NeuroNet  SoftUpdate

// grid: n/8
__kernel BY8 void SoftUpdate(
    __global float *target,         // [n]
    __global const float *source,   // [n]
    const int n, const float tau)
{
    const int i = 8 * get_global_id(0);
    const float8 old = load8(target + i, n - i);
    store8(old + tau * (load8(source + i, n - i) - old), target + i, n - i);
}
