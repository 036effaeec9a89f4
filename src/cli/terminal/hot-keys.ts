import type { Output } from './output.ts'

/** The action of one key. It reports its own result. */
export interface HotKey {
  help: string
  press(): Promise<void> | void
}

/** The part of a terminal's standard input that keys need. */
type Keyboard = NodeJS.ReadableStream & { setRawMode?: (isRaw: boolean) => void }

const CTRL_C = '\u0003'
const CTRL_D = '\u0004'

/**
 * Listens for single keys until the returned function is called. `?` or `h` lists them; `q`, Ctrl-C
 * and Ctrl-D call `leave`, each time.
 */
export function listenForHotKeys(
  out: Output,
  keys: Readonly<Record<string, HotKey>>,
  { leave }: { leave: (reason: string) => void },
): () => void {
  const keyboard = out.streams.stdin as Keyboard | undefined
  if (keyboard === undefined) return () => {}
  const busy = new Set<string>()
  const press = async (key: string) => {
    const known = keys[key]
    // A key is ignored until its last press has finished.
    if (known === undefined || busy.has(key)) return
    busy.add(key)
    try {
      await known.press()
    } catch (error) {
      out.note(`The key failed: ${error instanceof Error ? error.message : String(error)}`)
    } finally {
      busy.delete(key)
    }
  }
  const read = (chunk: Buffer | string) => {
    for (const key of chunk.toString()) {
      if (key === 'q' || key === CTRL_C || key === CTRL_D) leave(key === 'q' ? 'key q' : 'Ctrl-C')
      else if (key === '?' || key === 'h') out.note(describeKeys(keys))
      else void press(key)
    }
  }
  keyboard.setRawMode?.(true)
  keyboard.on('data', read)
  keyboard.resume()
  return () => {
    keyboard.off('data', read)
    keyboard.setRawMode?.(false)
    keyboard.pause()
  }
}

function describeKeys(keys: Readonly<Record<string, HotKey>>): string {
  const lines = Object.entries(keys).map(([key, { help }]) => `  ${key}  ${help}`)
  return ['Keys:', ...lines, '  q  stop; press it twice to exit at once', '  h  list the keys; so does ?'].join('\n')
}
