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

// --- CPU: a work-item sums blocks of 48 x 16 results, 6 x 16 at a time in registers ---------------

#define ROWS 48
#define COLS 16
#define CHUNK 128   // terms per pass: 16 columns of them stay in the L1 cache, 192 rows in the L2 cache
#define MOST 4      // blocks, each way, of one work-item

// The grid has a work-item for each block. Of a large product every second or fourth of them, each way, does
// its neighbours' work too, so that what it copies serves more often, and they return at once. At least 64
// keep work.
static int blocks_each_way(void)
{
    const int blocks = get_global_size(0) * get_global_size(1) * get_global_size(2);
    return blocks >= 64 * MOST * MOST ? MOST : blocks >= 64 * 4 ? 2 : 1;
}

// panel[k, c] = b[k*b_k + c*b_col] for 16 columns, zeros behind their end
static void load_panel(float8 *panel, __global const float *b, const int b_k, const int b_col,
                       const int terms, const int columns)
{
    for (int k = 0; k < terms; ++k, b += b_k) {
        panel[2 * k] = b_col == 1 ? load8(b, columns) : gather8(b, b_col, columns);
        panel[2 * k + 1] =
            b_col == 1 ? load8(b + 8, columns - 8) : gather8(b + 8 * b_col, b_col, columns - 8);
    }
}

// side[block, k, r] = a[k*a_k + 48*block + r]: of a turned a, whose terms are far apart in memory
static void load_side(float8 *side, __global const float *a, const int a_k, const int terms, const int rows)
{
    for (int k = 0; k < terms; ++k, a += a_k)
        for (int r = 0; r < rows; r += 8)
            side[(r / ROWS * CHUNK + k) * (ROWS / 8) + r % ROWS / 8] = load8(a + r, rows - r);
}

// out[r, c] = sum_k a[r*a_row + k*a_k] * panel[k, c] for up to 6 rows and 16 columns; added where ``more``.
// Two functions, as OpenCL C 1.2 has no pointer that may be to either memory.
#define SIX_ROWS_BODY                                                                            \
    float8 lo[6], hi[6];                                                                         \
    _Pragma("unroll")                                                                            \
    for (int r = 0; r < 6; ++r) {                                                                \
        __global const float *from = out + min(r, rows - 1) * pitch;                             \
        lo[r] = more ? load8(from, columns) : (float8)0.0f;                                      \
        hi[r] = more ? load8(from + 8, columns - 8) : (float8)0.0f;                              \
    }                                                                                            \
    for (int k = 0; k < terms; ++k) {                                                            \
        const float8 b_lo = panel[2 * k], b_hi = panel[2 * k + 1];                               \
        _Pragma("unroll")                                                                        \
        for (int r = 0; r < 6; ++r) {                                                            \
            const float x = a[min(r, rows - 1) * a_row + k * a_k];                               \
            lo[r] += x * b_lo;                                                                   \
            hi[r] += x * b_hi;                                                                   \
        }                                                                                        \
    }                                                                                            \
    _Pragma("unroll")                                                                            \
    for (int r = 0; r < 6; ++r)                                                                  \
        if (r < rows) {                                                                          \
            store8(lo[r], out + r * pitch, columns);                                             \
            store8(hi[r], out + r * pitch + 8, columns - 8);                                     \
        }

static void six_rows(__global const float *a, const int a_row, const int a_k, const float8 *panel,
                     const int terms, __global float *out, const int pitch, const int rows,
                     const int columns, const int more) { SIX_ROWS_BODY }

static void six_copied(const float *a, const int a_row, const int a_k, const float8 *panel,
                       const int terms, __global float *out, const int pitch, const int rows,
                       const int columns, const int more) { SIX_ROWS_BODY }

// The work-item's part of out[r, c] = sum_k a[r*a_row + k*a_k] * b[k*b_k + c*b_col]
static void block_product(
    __global const float *a, const int a_row, const int a_k,
    __global const float *b, const int b_k, const int b_col,
    __global float *out, const int rows, const int cols, const int terms)
{
    const int each = blocks_each_way(), down = get_global_id(0), across = get_global_id(1);
    if (down % each || across % each) return;
    const int first = down * ROWS, last = min(first + each * ROWS, rows);
    const int start = across * COLS, stop = min(start + each * COLS, cols);
    if (last - first == 1 && b_col == 1) {          // NeuroNet's own batch: nothing is used twice
        for (int c = start; c < stop; c += COLS) {
            float8 lo = 0.0f, hi = 0.0f;
            for (int k = 0; k < terms; ++k) {
                const float x = a[first * a_row + k * a_k];
                lo += x * load8(b + k * b_k + c, cols - c);
                hi += x * load8(b + k * b_k + c + 8, cols - c - 8);
            }
            store8(lo, out + first * cols + c, cols - c);
            store8(hi, out + first * cols + c + 8, cols - c - 8);
        }
        return;
    }
    const int copied = a_k != 1 && each == MOST;  // for fewer columns a copy costs more than it saves
    float8 panel[CHUNK * COLS / 8], side[MOST * CHUNK * ROWS / 8];
    for (int k0 = 0; k0 < terms; k0 += CHUNK) {
        const int depth = min(CHUNK, terms - k0);
        if (copied) load_side(side, a + k0 * a_k + first, a_k, depth, last - first);
        for (int c = start; c < stop; c += COLS) {
            load_panel(panel, b + k0 * b_k + c * b_col, b_k, b_col, depth, cols - c);
            for (int r = first; r < last; r += 6) {
                const int i = r - first;
                __global float *to = out + r * cols + c;
                if (copied)
                    six_copied((const float *)side + i / ROWS * CHUNK * ROWS + i % ROWS, 1, ROWS, panel,
                               depth, to, cols, last - r, cols - c, k0);
                else
                    six_rows(a + r * a_row + k0 * a_k, a_row, a_k, panel, depth,
                             to, cols, last - r, cols - c, k0);
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
    const int v = get_global_id(2);
    block_product(a + v * rows * dimension, dimension, 1, b + v * dimension * cols, cols, 1,
                  c + v * rows * cols, rows, cols, dimension);
}

// group: 1, 1, 1
// grid: rows/48, dimension/16, variables
__kernel void MatMultGradACPU(
    __global const float *dc,   // [variables, rows, cols]
    __global const float *b,    // [variables, dimension, cols]
    __global float *da,         // [variables, rows, dimension]
    const int rows, const int dimension, const int cols)
{
    const int v = get_global_id(2);
    block_product(dc + v * rows * cols, cols, 1, b + v * dimension * cols, 1, cols,
                  da + v * rows * dimension, rows, dimension, cols);
}

// group: 1, 1, 1
// grid: dimension/48, cols/16, variables
__kernel void MatMultGradBCPU(
    __global const float *a,    // [variables, rows, dimension]
    __global const float *dc,   // [variables, rows, cols]
    __global float *db,         // [variables, dimension, cols]
    const int rows, const int dimension, const int cols)
{
    const int v = get_global_id(2);
    block_product(a + v * rows * dimension, 1, dimension, dc + v * rows * cols, cols, 1,
                  db + v * dimension * cols, dimension, cols, rows);
}
