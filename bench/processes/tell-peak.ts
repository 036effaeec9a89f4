import { readMemory } from './read-memory.ts'

// Imported before a program, it writes the most memory of the process as a last line to stderr.
process.on('exit', () => process.stderr.write(`\n${readMemory(process.pid, 'VmHWM')}`))
