type Unit = 'Status' | 'Milliseconds' | 'Bytes'

const SIGNS: Record<Unit, string> = { Status: '', Milliseconds: ' ms', Bytes: ' B' }

/** A fault that the page offers: its field, and the words for it. */
interface Choice {
  name: string
  title: string
  /** The field's value, where a person gives none. */
  value?: true | string
  /** Unit of a value that a person gives. */
  unit?: Unit
  /** Value that stands in the field at first. */
  usual?: number
  /** Option of the command line. */
  option: string
}

export const CALLS = ['*', 'files.list', 'files.get', 'files.download', 'files.delete', 'download'] as const

/** Effects on answers of the API and of the download host. */
export const CALL_EFFECTS: readonly Choice[] = [
  { name: 'status', title: 'Answer with an HTTP error', unit: 'Status', usual: 503, option: '--status' },
  { name: 'latencyMs', title: 'Wait first', unit: 'Milliseconds', usual: 800, option: '--latency' },
  { name: 'reset', title: 'Reset the connection', value: true, option: '--reset' },
  { name: 'garbage', title: 'Answer with a body that is not JSON', value: true, option: '--garbage' },
  { name: 'html', title: "Answer with a gateway's HTML page", value: true, option: '--html' },
  { name: 'cutAfterBytes', title: 'Cut the body', unit: 'Bytes', usual: 1_000, option: '--cut-after' },
  { name: 'stallAfterBytes', title: 'Stall in the body', unit: 'Bytes', usual: 1_000, option: '--stall-after' },
]

/** Effects on deliveries. */
export const DELIVERY_EFFECTS: readonly Choice[] = [
  { name: 'drop', title: 'Send nothing', value: true, option: '--drop' },
  { name: 'duplicate', title: 'Send it twice', value: true, option: '--duplicate' },
  { name: 'delayMs', title: 'Send it later', unit: 'Milliseconds', usual: 60_000, option: '--delay' },
  { name: 'reorder', title: 'Send it after the next one', value: true, option: '--reorder' },
  { name: 'signature', title: 'Sign it wrongly', value: 'bad', option: '--signature bad' },
  { name: 'signature', title: 'Sign it as of an hour ago', value: 'stale', option: '--signature stale' },
  { name: 'tamper', title: 'Change its body after signing', value: true, option: '--tamper' },
]

const ALL = [...CALL_EFFECTS, ...DELIVERY_EFFECTS]

/** The effects of a fault in words. A field that the page does not offer keeps its name. */
export function describeFault(fault: Readonly<Record<string, unknown>>): string {
  const { id, on, times, probability, skip, seen, struck, ...effects } = fault
  const words = Object.entries(effects).flatMap(([name, value]) => {
    if (value === undefined || value === false || value === null) return []
    const known = ALL.find((each) => each.name === name && (each.unit !== undefined || each.value === value))
    if (!known) return [value === true ? name : `${name} ${String(value)}`]
    return [known.unit ? `${known.title}: ${String(value)}${SIGNS[known.unit]}` : known.title]
  })
  const share = typeof probability === 'number' && probability < 1 ? [`in ${Math.round(probability * 100)} %`] : []
  const after = typeof skip === 'number' && skip > 0 ? [`after ${skip}`] : []
  return [...words, ...share, ...after].join(' · ')
}
