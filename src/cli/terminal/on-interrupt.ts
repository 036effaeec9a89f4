/** Aborts at the first Ctrl-C, for an orderly stop. The second exits at once, with 130. */
export function onInterrupt(): AbortSignal {
  const controller = new AbortController()
  process.once('SIGINT', () => {
    process.once('SIGINT', () => process.exit(130))
    controller.abort(new DOMException('Interrupted.', 'AbortError'))
  })
  return controller.signal
}
