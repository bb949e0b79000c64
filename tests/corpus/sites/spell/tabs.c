#include <stdatomic.h>
static	atomic_int	x;
int	f(void)
{
		return	atomic_load_explicit(	&x	,	memory_order_acquire	);	//~ load acquire on=x
}
