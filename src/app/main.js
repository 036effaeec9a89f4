import { setUpProcess } from '../project/process-setup.js'

// An old Node cannot even read the imports of the program, so they follow the check.
if (setUpProcess()) await (await import('./run-program.ts')).runProgram()
