import { redactUrls, type UpshotError } from '../../core/errors.ts'

/** Characters of one answer: about 15,000 tokens of a model. */
const MAX_ANSWER = 50_000

/** The result of a tool, as the protocol has it. */
interface ToolAnswer {
  [key: string]: unknown
  content: { type: 'text'; text: string }[]
  isError?: true
}

/** An answer as JSON. A larger one is cut, and says how to ask for the rest. */
export function tellAnswer(answer: unknown): ToolAnswer {
  const text = JSON.stringify(answer ?? { done: true })
  if (text.length <= MAX_ANSWER) return tell(text)
  const { items } = answer as { items?: unknown }
  return Array.isArray(items) ? cutList(answer as { items: unknown[] }, text.length) : tell(cutText(text))
}

/** As many whole items as there is room for. */
function cutList(answer: { items: unknown[] }, length: number): ToolAnswer {
  const { items, ...about } = answer
  let kept = items.length
  let text = ''
  for (let room = length; room > MAX_ANSWER && kept > 0; room = text.length) {
    kept = Math.min(kept - 1, Math.floor((kept * MAX_ANSWER) / room))
    // `next` begins behind items that were left out.
    const shown = { ...about, next: null, items: items.slice(0, kept) }
    text = JSON.stringify({
      ...shown,
      cut: `${kept} of ${items.length} items are here. Ask with \`limit\` ${kept || 1}.`,
    })
  }
  return tell(text)
}

function cutText(text: string): string {
  const rest = text.length - MAX_ANSWER
  return `${text.slice(0, MAX_ANSWER)}\n… cut: ${rest} more characters. Ask for a part: one run, step, event or page.`
}

/** A refusal in words that a model can act on. */
export function tellRefusal({ code, message, details }: UpshotError): ToolAnswer {
  const { fix, faults } = details
  const more = Array.isArray(faults) ? faults.map(({ at, fault }) => `${at}: ${fault}`).join('; ') : ''
  const parts = [`${code}: ${redactUrls(message)}`, more, typeof fix === 'string' ? fix : '']
  return { ...tell(parts.filter((part) => part !== '').join(' ')), isError: true }
}

function tell(text: string): ToolAnswer {
  return { content: [{ type: 'text', text }] }
}
