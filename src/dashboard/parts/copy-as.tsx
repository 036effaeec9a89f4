import { useId } from 'react'
import { useToasts } from '../state/toasts.tsx'

/** Copies the command line's or curl's form of what the page shows. */
export function CopyAs({ cli, url }: { cli: string; url: string }) {
  const id = useId()
  const toast = useToasts()
  const copy = (text: string, what: string) =>
    navigator.clipboard.writeText(text).then(
      () => toast(`Copied ${what}.`),
      () => toast(text),
    )
  const curl = `curl -H "Authorization: Bearer $UPSHOT_TOKEN" '${url}'`
  return (
    <span className="menu">
      <button type="button" className="plain" popoverTarget={id}>
        Copy as…
      </button>
      <span id={id} popover="auto">
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
