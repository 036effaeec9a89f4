import { registerHooks } from 'node:module'

// Preloaded into a command: says at its end which modules it has loaded, one address per line on
// stderr.
const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})
process.on('exit', () => process.stderr.write(loaded.join('\n')))
