import { registerHooks } from 'node:module'

// Preloaded into a command. At exit it prints the URLs of all loaded modules to stderr.
const loaded: string[] = []
registerHooks({
  load(url, context, next) {
    loaded.push(url)
    return next(url, context)
  },
})
process.on('exit', () => process.stderr.write(loaded.join('\n')))
