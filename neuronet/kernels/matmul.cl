// matmul.cl: products of matrices, one pair per variable, and their gradients.
//
//   c[v] = a[v] · b[v]        da[v] = dc[v] · b[v]ᵀ        db[v] = a[v]ᵀ · dc[v]
//
// Used by   ops/matmul.py, ops/dense.py     Checked against   reference/matmul.py
// NeuroNet  MatMult, MatMultGrad (one kernel there, which skips columns: errata F24)
// Overwrites c, da and db.

// --- any device ----------------------------------------------------------------------------

// grid: cols, rows, variables
__kernel void MatMult(
    __global const float *a,    // [variables, rows, dimension]
    __global const float *b,    // [variables, dimension, cols]
    __global float *c,          // [variables, rows, cols]
    const int rows, const int dimension, const int cols)
{
    const int col = get_global_id(0), row = get_global_id(1), v = get_global_id(2);
    a += (v * rows + row) * dimension;
    b += v * dimension * cols + col;
    float sum = 0.0f;
    for (int k = 0; k < dimension; ++k)
        sum += a[k] * b[k * cols];
    c[(v * rows + row) * cols + col] = sum;
}

// grid: dimension, rows, variables
__kernel void MatMultGradA(
    __global const float *dc,   // [variables, rows, cols]
    __global const float *b,    // [variables, dimension, cols]
    __global float *da,         // [variables, rows, dimension]
    const int rows, const int dimension, const int cols)
{
    const int k = get_global_id(0), row = get_global_id(1), v = get_global_id(2);
    dc += (v * rows + row) * cols;
    b += (v * dimension + k) * cols;
    float sum = 0.0f;
    for (int col = 0; col < cols; ++col)
        sum += dc[col] * b[col];
    da[(v * rows + row) * dimension + k] = sum;
}

// grid: cols, dimension, variables
__kernel void MatMultGradB(
    __global const float *a,    // [variables, rows, dimension]
    __global const float *dc,   // [variables, rows, cols]
    __global float *db,         // [variables, dimension, cols]
    const int rows, const int dimension, const int cols)
{
    const int col = get_global_id(0), k = get_global_id(1), v = get_global_id(2);
    a += v * rows * dimension + k;
    dc += v * rows * cols + col;
    float sum = 0.0f;
    for (int row = 0; row < rows; ++row)
        sum += a[row * dimension] * dc[row * cols];
    db[(v * dimension + k) * cols + col] = sum;
}

// --- CPU: a work-item sums 48 x 16 results, 6 x 16 at a time in registers ------------------------

#define CHUNK 256   // terms per pass over a panel; 16 columns of them stay in the L1 cache

// out[r, c] = sum_k a[r*a_row + k*a_k] * b[k*b_k + c*b_col] for rows [first, last) and 16 columns
static void panel_product(
    __global const float *a, const int a_row, const int a_k,
    __global const float *b, const int b_k, const int b_col,
    __global float *out, const int out_row, const int first, const int last, const int columns,
    const int terms)
{
    if (last - first == 1 && b_col == 1) {          // NeuroNet's own batch: nothing is used twice
        float8 lo = 0.0f, hi = 0.0f;
        for (int k = 0; k < terms; ++k) {
            const float x = a[first * a_row + k * a_k];
            lo += x * load8(b + k * b_k, columns);
            hi += x * load8(b + k * b_k + 8, columns - 8);
        }
        store8(lo, out + first * out_row, columns);
        store8(hi, out + first * out_row + 8, columns - 8);
        return;
    }
    float8 panel[2 * CHUNK];                        // b's part, terms x 16, zeros behind its edge
    for (int k0 = 0; k0 < terms; k0 += CHUNK) {
        const int depth = min(CHUNK, terms - k0);
        for (int k = 0; k < depth; ++k) {
            __global const float *from = b + (k0 + k) * b_k;
            if (b_col == 1) {
                panel[2 * k] = load8(from, columns);
                panel[2 * k + 1] = load8(from + 8, columns - 8);
            } else {
                panel[2 * k] = gather8(from, b_col, columns);
                panel[2 * k + 1] = gather8(from + 8 * b_col, b_col, columns - 8);
            }
        }
        for (int r0 = first; r0 < last; r0 += 6) {
            __global const float *row[6];
            float8 lo[6], hi[6];
            #pragma unroll
            for (int r = 0; r < 6; ++r) {
                const int at = min(r0 + r, last - 1);
                row[r] = a + at * a_row + k0 * a_k;
                lo[r] = k0 ? load8(out + at * out_row, columns) : (float8)0.0f;
                hi[r] = k0 ? load8(out + at * out_row + 8, columns - 8) : (float8)0.0f;
            }
            for (int k = 0; k < depth; ++k) {
                const float8 b_lo = panel[2 * k], b_hi = panel[2 * k + 1];
                #pragma unroll
                for (int r = 0; r < 6; ++r) {
                    lo[r] += row[r][k * a_k] * b_lo;
                    hi[r] += row[r][k * a_k] * b_hi;
                }
            }
            #pragma unroll
            for (int r = 0; r < 6; ++r)
                if (r0 + r < last) {
                    store8(lo[r], out + (r0 + r) * out_row, columns);
                    store8(hi[r], out + (r0 + r) * out_row + 8, columns - 8);
                }
        }
    }
}

// group: 1, 1, 1
// grid: rows/48, cols/16, variables
__kernel void MatMultCPU(
    __global const float *a,    // [variables, rows, dimension]
    __global const float *b,    // [variables, dimension, cols]
    __global float *c,          // [variables, rows, cols]
    const int rows, const int dimension, const int cols)
{
    const int first = 48 * get_global_id(0), col = 16 * get_global_id(1), v = get_global_id(2);
    panel_product(a + v * rows * dimension, dimension, 1, b + v * dimension * cols + col, cols, 1,
                  c + v * rows * cols + col, cols, first, min(first + 48, rows), cols - col, dimension);
}

// group: 1, 1, 1
// grid: rows/48, dimension/16, variables
__kernel void MatMultGradACPU(
    __global const float *dc,   // [variables, rows, cols]
    __global const float *b,    // [variables, dimension, cols]
    __global float *da,         // [variables, rows, dimension]
    const int rows, const int dimension, const int cols)
{
    const int first = 48 * get_global_id(0), k = 16 * get_global_id(1), v = get_global_id(2);
    panel_product(dc + v * rows * cols, cols, 1, b + (v * dimension + k) * cols, 1, cols,
                  da + v * rows * dimension + k, dimension, first, min(first + 48, rows), dimension - k,
                  cols);
}

// group: 1, 1, 1
// grid: dimension/48, cols/16, variables
__kernel void MatMultGradBCPU(
    __global const float *a,    // [variables, rows, dimension]
    __global const float *dc,   // [variables, rows, cols]
    __global float *db,         // [variables, dimension, cols]
    const int rows, const int dimension, const int cols)
{
    const int first = 48 * get_global_id(0), col = 16 * get_global_id(1), v = get_global_id(2);
    panel_product(a + v * rows * dimension, 1, dimension, dc + v * rows * cols + col, cols, 1,
                  db + v * dimension * cols + col, cols, first, min(first + 48, dimension), cols - col, rows);
}

// --- GPU: a work-group sums a tile of 64 x 64 results, 4 x 4 per work-item ------------------------

#define TILE 64
#define DEPTH 16
#define PITCH (TILE + 4)

// to[k, i] = from[i*row + k*term] for TILE rows and DEPTH terms; zeros behind the edge
static void load_tile(__local float *to, __global const float *from, const int row, const int term,
                      const int rows, const int terms)
{
    const int x = get_local_id(0), y = get_local_id(1);
    #pragma unroll
    for (int j = 0; j < 4; ++j) {                   // neighbours read neighbouring memory
        const int k = term == 1 ? x : (16 * y + x) / TILE + 4 * j;
        const int i = term == 1 ? y + 16 * j : (16 * y + x) % TILE;
        to[k * PITCH + i] = i < rows && k < terms ? from[i * row + k * term] : 0.0f;
    }
}

// out[r, c] = sum_k a[r*a_row + k*a_k] * b[k*b_k + c*b_col] for one tile
static void tile_product(
    __global const float *a, const int a_row, const int a_k,
    __global const float *b, const int b_k, const int b_col,
    __global float *out, const int rows, const int cols, const int terms,
    __local float *a_tile, __local float *b_tile)
{
    const int x = get_local_id(0), y = get_local_id(1);
    const int row = TILE * get_group_id(1), col = TILE * get_group_id(0);
    float4 sum[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = 0; k0 < terms; k0 += DEPTH) {
        load_tile(a_tile, a + row * a_row + k0 * a_k, a_row, a_k, rows - row, terms - k0);
        load_tile(b_tile, b + col * b_col + k0 * b_k, b_col, b_k, cols - col, terms - k0);
        barrier(CLK_LOCAL_MEM_FENCE);
        #pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float4 p = vload4(y, a_tile + k * PITCH), q = vload4(x, b_tile + k * PITCH);
            sum[0] += p.s0 * q;
            sum[1] += p.s1 * q;
            sum[2] += p.s2 * q;
            sum[3] += p.s3 * q;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row + 4 * y + i, c = col + 4 * x;
        if (r >= rows) continue;
        if (c + 0 < cols) out[r * cols + c + 0] = sum[i].s0;
        if (c + 1 < cols) out[r * cols + c + 1] = sum[i].s1;
        if (c + 2 < cols) out[r * cols + c + 2] = sum[i].s2;
        if (c + 3 < cols) out[r * cols + c + 3] = sum[i].s3;
    }
}

// group: 16, 16, 1
// grid: cols/64*16, rows/64*16, variables
__kernel void MatMultGPU(
    __global const float *a,    // [variables, rows, dimension]
    __global const float *b,    // [variables, dimension, cols]
    __global float *c,          // [variables, rows, cols]
    const int rows, const int dimension, const int cols)
{
    __local float a_tile[DEPTH * PITCH], b_tile[DEPTH * PITCH];
    const int v = get_group_id(2);
    tile_product(a + v * rows * dimension, dimension, 1, b + v * dimension * cols, cols, 1,
                 c + v * rows * cols, rows, cols, dimension, a_tile, b_tile);
}

// group: 16, 16, 1
// grid: dimension/64*16, rows/64*16, variables
__kernel void MatMultGradAGPU(
    __global const float *dc,   // [variables, rows, cols]
    __global const float *b,    // [variables, dimension, cols]
    __global float *da,         // [variables, rows, dimension]
    const int rows, const int dimension, const int cols)
{
    __local float a_tile[DEPTH * PITCH], b_tile[DEPTH * PITCH];
    const int v = get_group_id(2);
    tile_product(dc + v * rows * cols, cols, 1, b + v * dimension * cols, 1, cols,
                 da + v * rows * dimension, rows, dimension, cols, a_tile, b_tile);
}

// group: 16, 16, 1
// grid: cols/64*16, dimension/64*16, variables
__kernel void MatMultGradBGPU(
    __global const float *a,    // [variables, rows, dimension]
    __global const float *dc,   // [variables, rows, cols]
    __global float *db,         // [variables, dimension, cols]
    const int rows, const int dimension, const int cols)
{
    __local float a_tile[DEPTH * PITCH], b_tile[DEPTH * PITCH];
    const int v = get_group_id(2);
    tile_product(a + v * rows * dimension, 1, dimension, dc + v * rows * cols, cols, 1,
                 db + v * dimension * cols, dimension, cols, rows, a_tile, b_tile);
}
