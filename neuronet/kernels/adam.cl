// adam.cl: Adam over any flat piece of the parameter pool; the maths is ADAM in common.cl.
//
// Used by   ops/adam.py          Checked against   reference/adam.py

// grid: n/8
__kernel BY8 void AdamStep(
    __global float *w,              // [n]
    __global float *g,              // [n]  set to zero after use, unless keep is 1 and no weight may change
    __global float *m,              // [n]
    __global float *v,              // [n]
    __global const float *hyper,    // [hyper]
    const int n, const int keep)
{
    const int i = 8 * get_global_id(0);
    if (keep && hyper[HYPER_GO] == 0.0f) return;
    adam8(w + i, m + i, v + i, load8(g + i, n - i), n - i, hyper);
    store8(0.0f, g + i, n - i);
}
