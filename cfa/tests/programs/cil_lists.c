// Lists of structures as CIL prints the Linux headers.
unsigned checksum;
void mix(unsigned x) { checksum = checksum * 31u + x; }
typedef unsigned int size_t2; typedef long __kernel_long_t;
struct list_head { struct list_head *next, *prev; };
struct module; 
struct device { struct device *parent; void *driver_data; struct list_head entry; int (*probe)(struct device *, int); char name[16]; };
extern void *malloc(unsigned long); extern void free(void *);
__inline static void INIT_LIST_HEAD(struct list_head *list ) ;
__inline static void INIT_LIST_HEAD(struct list_head *list )
{
  {
#line 28
  *((struct list_head * volatile *)(& list->next)) = list;
  list->prev = list;
  return;
}
}
__inline static void __list_add(struct list_head *new , struct list_head *prev , struct list_head *next )
{
  {
  next->prev = new; new->next = next; new->prev = prev; prev->next = new;
  return;
}
}
static struct list_head global_list = {& global_list, & global_list};
static int my_probe(struct device *dev , int id ) 
{ int tmp ; char const *__cil_tmp4 ;
  {
  tmp = id + 1;
  dev->driver_data = (void *)((unsigned long )tmp);
  __cil_tmp4 = (char const *)(dev->name);
  return ((int )*(__cil_tmp4 + 1));
  }
}
static struct device devs[2U] = { {(struct device *)0, (void *)0, {(struct list_head *)0, (struct list_head *)0}, & my_probe, {(char )'a', (char )'b', '\000'}}, {(struct device *)(& devs[0]), (void *)(& devs), {0, 0}, (int (*)(struct device * , int ))0, ""} };
int main(void)
{ struct list_head *pos ; struct device *d ; int count ; void *tmp ; unsigned long __cil_tmp9 ; int (**fp)(struct device * , int ) ;
  {
  count = 0;
  INIT_LIST_HEAD(& global_list);
  __list_add(& devs[0].entry, & global_list, global_list.next);
  tmp = malloc((unsigned int )sizeof(struct device ));
  d = (struct device *)tmp;
  *d = devs[0];
  __list_add(& d->entry, global_list.prev, & global_list);
  pos = global_list.next;
  while (1) {
    while_continue: ;
    if (! ((unsigned long )pos != (unsigned long )(& global_list))) { goto while_break; } else { }
    { struct list_head const *__mptr = (struct list_head const *)pos;
    __cil_tmp9 = (unsigned long )((struct device *)0) + (unsigned long )(& ((struct device *)0)->entry);
    d = (struct device *)((char *)__mptr - __cil_tmp9); }
    count ++;
    fp = & d->probe;
    mix(((*fp))(d, count)); mix((unsigned int)(unsigned long)d->driver_data);
    pos = pos->next;
  }
  while_break: ;
  mix(count); mix(devs[1].parent == devs);
  __cil_tmp9 = (unsigned long )(& devs[1]); *((int *)(__cil_tmp9 + (unsigned long)&((struct device *)0)->name)) = 66; mix(devs[1].name[0]);
  return (0);
  }
}
