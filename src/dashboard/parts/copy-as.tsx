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
    navigator.clipboard.writeText(text).then(
      () => toast(`Copied ${what}.`),
      () => toast(text),
    )
  return (
    <span className="menu">
      <button type="button" className="plain" popoverTarget={id} data-key=".">
        Copy as…
      </button>
      <span id={id} popover="auto" ref={useCallback(walkByKeys, [])}>
        <button type="button" className="plain" onClick={() => copy(cli, 'the command')}>
          Command line
        </button>
        <button type="button" className="plain" onClick={() => copy(curlOf(to, input), 'the curl command')}>
          curl
        </button>
      </span>
    </span>
  )
}

function curlOf<Name extends RouteName>(to: Name, input: InputOf<Name>): string {
  const [verb = 'GET'] = to.split(' ')
  const { body } = input as { body?: object }
  const method = verb === 'GET' || (verb === 'POST' && body) ? '' : ` -X ${verb}`
  const call = `curl${method} -H "Authorization: Bearer $UPSHOT_TOKEN" '${urlOf(to, input)}'`
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
