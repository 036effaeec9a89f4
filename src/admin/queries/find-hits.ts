import type { ReadStore } from '../../core/store/store.ts'

interface Hit {
  kind: 'run' | 'event' | 'delivery' | 'workflow' | 'endpoint' | 'operation'
  id: string
  title: string
}

/** Names that are listed. */
const MAX_NAMES = 10

/** Anything with this id, or whose name begins with the text; case is ignored. */
export async function findHits(store: ReadStore, text: string): Promise<Hit[]> {
  const [kind] = text.split('_')
  switch (kind) {
    case 'run': {
      const run = await store.findRun(text)
      return run ? [{ kind, id: run.id, title: `${run.workflow}, ${run.status}` }] : []
    }
    case 'evt':
      return (await store.findEvents(text)).map(({ id, type }) => ({ kind: 'event', id, title: type }))
    case 'dlv': {
      const found = await store.findDelivery(text)
      return found ? [{ kind: 'delivery', id: text, title: found.delivery.verdict }] : []
    }
    case 'opr': {
      const operation = await store.findBulk(text)
      return operation ? [{ kind: 'operation', id: text, title: `${operation.kind}, ${operation.status}` }] : []
    }
    default:
      return findNames(store, text.toLowerCase())
  }
}

async function findNames(store: ReadStore, text: string): Promise<Hit[]> {
  const fits = (name: string) => name.toLowerCase().includes(text)
  const workflows = (await store.listWorkflows()).filter(({ id }) => fits(id))
  const endpoints = (await store.listEndpoints()).filter(({ name }) => fits(name))
  const hits: Hit[] = [
    ...workflows.map(({ id, file }) => ({ kind: 'workflow' as const, id, title: file })),
    ...endpoints.map(({ name, status }) => ({ kind: 'endpoint' as const, id: name, title: status })),
  ]
  return hits.slice(0, MAX_NAMES)
}
