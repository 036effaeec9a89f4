import { useCallback, useId } from 'react'
import type { InputOf, RouteName } from '../../admin/contract/routes.ts'
import { urlOf } from '../api/client.ts'
import { useToasts } from '../state/toasts.tsx'
import { shellWord } from '../words/format.ts'

interface CopyParts<Name extends RouteName> {
  /** The command that shows or does the same. */
  cli: string
  to: Name
  input: InputOf<Name>
}

/** Copies the command line's or curl's form of what the page shows or does. */
export function CopyAs<Name extends RouteName>({ cli, to, input }: CopyParts<Name>) {
  const id = useId()
  const toast = useToasts()
  const copy = (text: string, what: string) =>
    copyText(text).then(
      () => toast(`Copied ${what}.`),
      () => toast(text),
    )
  const item = { type: 'button', className: 'plain', popoverTarget: id, popoverTargetAction: 'hide' } as const
  return (
    <span className="menu">
      <button type="button" className="plain" popoverTarget={id} data-key=".">
        Copy as…
      </button>
      <span id={id} popover="auto" ref={useCallback(walkByKeys, [])}>
        <button {...item} onClick={() => copy(cli, 'the command')}>
          Command line
        </button>
        <button {...item} onClick={() => copy(curlOf(to, input), 'the curl command')}>
          curl
        </button>
      </span>
    </span>
  )
}

/** Copies a text. A page from a host of plain HTTP has no clipboard, and asks the browser to copy. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const give = (event: ClipboardEvent) => {
    event.preventDefault()
    event.clipboardData?.setData('text/plain', text)
  }
  document.addEventListener('copy', give, { once: true })
  if (!document.execCommand('copy')) throw new Error('The browser copies nothing.')
}

function curlOf<Name extends RouteName>(to: Name, input: InputOf<Name>): string {
  const [verb = 'GET'] = to.split(' ')
  const { body } = input as { body?: object }
  const method = verb === 'GET' || (verb === 'POST' && body) ? '' : ` -X ${verb}`
  const call = `curl${method} -H "Authorization: Bearer $UPSHOT_TOKEN" ${shellWord(urlOf(to, input))}`
  return body ? `${call} -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}` : call
}

/** Walks the buttons of a menu with the arrow keys; the first has the focus when it opens. */
function walkByKeys(menu: HTMLElement | null): (() => void) | undefined {
  if (!menu) return undefined
  const buttons = () => [...menu.querySelectorAll('button')]
  const events = new AbortController()
  const { signal } = events
  menu.addEventListener('toggle', (event) => event.newState === 'open' && buttons()[0]?.focus(), { signal })
  const walk = (event: KeyboardEvent) => {
    const by = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    const all = buttons()
    if (by === 0 || all.length === 0) return
    event.preventDefault()
    const at = all.indexOf(document.activeElement as HTMLButtonElement)
    all[(at + by + all.length) % all.length]?.focus()
  }
  menu.addEventListener('keydown', walk, { signal })
  return () => events.abort()
}
