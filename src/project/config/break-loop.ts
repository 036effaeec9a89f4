import { Session } from 'node:inspector'
import { parentPort, workerData } from 'node:worker_threads'

export interface LoopWatch {
  /** 0: the main thread imports; 1: it does no more, or its loop was broken. */
  isOver: Int32Array
  afterMs: number
}

interface Parsed {
  params: { scriptId: string; url: string }
}
interface Paused {
  params: { callFrames: { location: { scriptId: string; lineNumber: number } }[] }
}

/** V8 interrupts a loop of the main thread for its inspector, and ends what is called there. */
function breakLoop(isOver: Int32Array): void {
  if (Atomics.load(isOver, 0) !== 0) return
  const session = new Session()
  session.connectToMainThread()
  const urls = new Map<string, string>()
  session.on('Debugger.scriptParsed', ({ params }: Parsed) => urls.set(params.scriptId, params.url))
  session.on('Debugger.paused', ({ params: { callFrames } }: Paused) => {
    // It came out of its loop by itself.
    if (Atomics.compareExchange(isOver, 0, 0, 1) !== 0) return session.disconnect()
    const { scriptId = '', lineNumber = 0 } = callFrames[0]?.location ?? {}
    parentPort?.postMessage({ url: urls.get(scriptId) ?? '', line: lineNumber + 1 })
    session.post('Runtime.terminateExecution')
    session.post('Debugger.disable')
  })
  session.post('Debugger.enable')
  session.post('Debugger.pause')
}

const { isOver, afterMs } = workerData as LoopWatch
setTimeout(breakLoop, afterMs, isOver)
// The answers of the inspector do not keep a thread alive.
setInterval(() => {}, 60_000)
