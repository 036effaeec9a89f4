/**
 * Aborts at the first Ctrl-C, so that what is under way can end in order; the second leaves at
 * once.
 */
export function onInterrupt(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => {
    process.once('SIGINT', () => process.exit(130))
    controller.abort(new DOMException('Interrupted.', 'AbortError'))
  })
  return controller.signal
}
