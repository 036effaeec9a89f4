import { useId } from 'react'
import { useToasts } from '../state/toasts.tsx'
import { useMenuKeys } from '../state/use-menu-keys.ts'
import { shellWord } from '../words/shell-word.ts'

interface CopyParts {
  cli: string
  url: string
  /** Body of an action; left out: the call is a question. */
  body?: object
  /** Of an action; default POST. */
  method?: 'PUT' | 'PATCH' | 'DELETE'
}

/** Copies the command line's or curl's form of what the page shows or does. */
export function CopyAs({ cli, url, body, method }: CopyParts) {
  const id = useId()
  const menu = useMenuKeys()
  const toast = useToasts()
  const copy = (text: string, what: string) =>
    navigator.clipboard.writeText(text).then(
      () => toast(`Copied ${what}.`),
      () => toast(text),
    )
  const verb = method === undefined ? '' : ` -X ${method}`
  const call = `curl${verb} -H "Authorization: Bearer $UPSHOT_TOKEN" '${url}'`
  const curl = body ? `${call} -H 'Content-Type: application/json' -d ${shellWord(JSON.stringify(body))}` : call
  return (
    <span className="menu">
      <button type="button" className="plain" popoverTarget={id} data-key=".">
        Copy as…
      </button>
      <span id={id} popover="auto" ref={menu}>
        <button type="button" className="plain" onClick={() => copy(cli, 'the command')}>
          Command line
        </button>
        <button type="button" className="plain" onClick={() => copy(curl, 'the curl command')}>
          curl
        </button>
      </span>
    </span>
  )
}
