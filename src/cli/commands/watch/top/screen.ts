import { emitKeypressEvents, type Key } from 'node:readline'
import type { Output } from '../../../terminal/output.ts'
import type { Screen } from './draw-frame.ts'

/** A pressed key: its name, such as `up` or `return`, or the character. */
export type PressedKey = string

interface LiveScreen extends Screen {
  draw(lines: readonly string[]): void
  /** Gives the terminal back as it was. */
  close(): void
}

type Keyboard = NodeJS.ReadStream
type Terminal = NodeJS.WritableStream & { columns?: number; rows?: number }

const ENTER = '\u001B[?1049h\u001B[?25l'
const LEAVE = '\u001B[?25h\u001B[?1049l'
const HOME = '\u001B[H'
const CLEAR_LINE = '\u001B[K'

/** Takes the terminal over, with a screen of its own, until `close`. */
export function openScreen(out: Output, onKey: (key: PressedKey) => void): LiveScreen {
  const terminal = out.streams.stdout as Terminal
  const keyboard = out.streams.stdin as Keyboard
  const press = (text: string | undefined, { name, ctrl }: Key) =>
    onKey(ctrl && name === 'c' ? 'q' : name !== undefined && name.length > 1 ? name : (text ?? ''))
  emitKeypressEvents(keyboard)
  keyboard.setRawMode?.(true)
  keyboard.on('keypress', press)
  keyboard.resume()
  terminal.write(ENTER)
  return {
    paint: out.paint,
    get width() {
      return terminal.columns ?? 80
    },
    get height() {
      return terminal.rows ?? 24
    },
    draw: (lines) => void terminal.write(HOME + lines.map((line) => line + CLEAR_LINE).join('\r\n')),
    close() {
      keyboard.off('keypress', press)
      keyboard.setRawMode?.(false)
      keyboard.pause()
      terminal.write(LEAVE)
    },
  }
}
