/*
 * What a broken C extension does: for scenarios/crashes. Not optimised away, and each way to die stands in a function of its own
 * name, which the tests look for in the native stack.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <pthread.h>
#include <unistd.h>

#define NO_INLINE __attribute__((noinline))

static volatile int *volatile nowhere;
static volatile int depth;

NO_INLINE static int write_nowhere(void)
{
    *nowhere = 1;
    return *nowhere + 1;
}

NO_INLINE static PyObject *segfault(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLong(write_nowhere() + 1);
}

/* call(function, *arguments): C code between two functions of Python. */
NO_INLINE static PyObject *call(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *arguments = PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args));
    PyObject *result = arguments ? PyObject_Call(PyTuple_GET_ITEM(args, 0), arguments, NULL) : NULL;
    Py_XDECREF(arguments);
    return result;
}

NO_INLINE static int recurse_for_ever(int level)
{
    volatile char room[2048];
    room[level % 2048] = (char)level;
    depth = level;
    return recurse_for_ever(level + 1) + room[level % 2048];
}

NO_INLINE static PyObject *overflow(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    return PyLong_FromLong(recurse_for_ever(0));
}

NO_INLINE static PyObject *without_gil(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    PyEval_SaveThread();
    return PyLong_FromVoidPtr(PyThreadState_Get()); /* a fatal error: there is none */
}

NO_INLINE static void *pauses(void *Py_UNUSED(argument))
{
    for (;;)
        pause();
    return NULL;
}

/* A thread that the interpreter knows nothing of. */
static PyObject *start_native_thread(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
    pthread_t thread;
    pthread_create(&thread, NULL, pauses, NULL);
    Py_RETURN_NONE;
}

/* Bomb(how): an object that dies when it is destroyed. */
typedef struct {
    PyObject_HEAD
    int segfaults;
} Bomb;

NO_INLINE static void bomb_dealloc(PyObject *self)
{
    if (((Bomb *)self)->segfaults)
        write_nowhere();
    abort();
}

static int bomb_init(PyObject *self, PyObject *args, PyObject *Py_UNUSED(keywords))
{
    return PyArg_ParseTuple(args, "p", &((Bomb *)self)->segfaults) ? 0 : -1;
}

static PyTypeObject bomb_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "crash.Bomb",
    .tp_basicsize = sizeof(Bomb),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = PyType_GenericNew,
    .tp_init = bomb_init,
    .tp_dealloc = bomb_dealloc,
};

static PyMethodDef methods[] = {
    {"segfault", segfault, METH_NOARGS, NULL},
    {"call", call, METH_VARARGS, NULL},
    {"overflow", overflow, METH_NOARGS, NULL},
    {"start_native_thread", start_native_thread, METH_NOARGS, NULL},
    {"without_gil", without_gil, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "crash", .m_size = -1, .m_methods = methods};

PyMODINIT_FUNC PyInit_crash(void)
{
    PyObject *made = PyModule_Create(&module);
    if (made && PyModule_AddType(made, &bomb_type) < 0)
        Py_CLEAR(made);
    return made;
}
