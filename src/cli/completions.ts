/**
 * Completion candidates for a command line, from the command table, and the scripts that let a shell ask for them.
 * The scripts know the first words of commands; for everything else they call `asyncagents complete`. Pure.
 */
import { chooseCommand } from "./arguments.ts";
import { type Command, type CommandOption, type Completes, GLOBAL_OPTIONS } from "./command.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;
export type Shell = (typeof SHELLS)[number];

export type Candidate = readonly [value: string, meaning: string];
type Completion = { values: Candidate[] } | { place: Exclude<Completes, readonly string[]> };

/** Completes the last word, which may be empty or partial. */
export function complete(commands: readonly Command[], words: readonly string[]): Completion {
  const last = words.at(-1) ?? "";
  const before = words.slice(0, -1);
  const { command, rest } = chooseCommand(commands, before);
  if (!command) return fitting(nextWords(commands, before), last);
  const options = { ...command.options, ...GLOBAL_OPTIONS };
  const previous = rest.at(-1);
  const open = previous === undefined ? undefined : optionOf(options, previous);
  if (open?.value !== undefined) return placeOf(open.completes, last);
  if (last.startsWith("-") && !rest.includes("--")) {
    return fitting(
      Object.entries(options).map(([name, { summary }]) => [`--${name}`, summary] as const),
      last,
    );
  }
  const operands = command.operands ?? [];
  const at = rest.filter((word, index) => !word.startsWith("-") && !expectsValue(options, rest[index - 1])).length;
  const operand = operands[at] ?? operands.find(({ repeated }) => repeated);
  return placeOf(operand?.completes, last);
}

function nextWords(commands: readonly Command[], before: readonly string[]): Candidate[] {
  const found = new Map<string, string>();
  for (const { name, aliases = [], summary, hidden } of commands) {
    for (const parts of [name, ...aliases].map((each) => each.split(" "))) {
      if (hidden || before.some((word, index) => parts[index] !== word)) continue;
      const next = parts[before.length];
      if (next !== undefined) found.set(next, parts.length === before.length + 1 ? summary : `${next} …`);
    }
  }
  return [...found];
}

function optionOf(options: Readonly<Record<string, CommandOption>>, word: string): CommandOption | undefined {
  return Object.entries(options).find(
    ([name, { short }]) => word === `--${name}` || (short && word === `-${short}`),
  )?.[1];
}

function expectsValue(options: Readonly<Record<string, CommandOption>>, word: string | undefined): boolean {
  return word !== undefined && optionOf(options, word)?.value !== undefined;
}

function placeOf(completes: Completes | undefined, last: string): Completion {
  if (completes === undefined) return { values: [] };
  if (typeof completes === "string") return { place: completes };
  return fitting(
    completes.map((value) => [value, ""] as const),
    last,
  );
}

function fitting(all: readonly Candidate[], last: string): Completion {
  return { values: all.filter(([value]) => value.startsWith(last)) };
}

export function completionScript(shell: Shell, commands: readonly Command[]): string {
  const first = nextWords(commands, []);
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](first);
}

function bashScript(first: readonly Candidate[]): string {
  return `# asyncagents completion for bash; load it with: eval "$(asyncagents completion bash)"
_asyncagents() {
  local current="\${COMP_WORDS[COMP_CWORD]}" line
  COMPREPLY=()
  if [[ $COMP_CWORD -eq 1 && $current != -* ]]; then
    COMPREPLY=($(compgen -W "${first.map(([value]) => value).join(" ")}" -- "$current"))
    return
  fi
  while IFS= read -r line; do
    case "$line" in
      :files) compopt -o default; COMPREPLY=(); return ;;
      :directories) compopt -o dirnames; COMPREPLY=(); return ;;
      *) COMPREPLY+=("\${line%%$'\\t'*}") ;;
    esac
  done < <(asyncagents complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _asyncagents asyncagents
`;
}

function zshScript(first: readonly Candidate[]): string {
  const quoted = first.map(([value, meaning]) => `    ${singleQuoted(`${value}:${meaning}`)}`).join("\n");
  return `#compdef asyncagents
# asyncagents completion for zsh; load it with: eval "$(asyncagents completion zsh)"
_asyncagents() {
  local -a found
  local line
  if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
    found=(
${quoted}
    )
    _describe 'command' found
    return
  fi
  while IFS= read -r line; do
    case $line in
      :files) _files; return ;;
      :directories) _files -/; return ;;
      *) found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}") ;;
    esac
  done < <(asyncagents complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'value' found
}
compdef _asyncagents asyncagents
`;
}

function fishScript(first: readonly Candidate[]): string {
  const lines = first.map(
    ([value, meaning]) => `complete -c asyncagents -n __fish_use_subcommand -a ${value} -d ${singleQuoted(meaning)}`,
  );
  return `# asyncagents completion for fish; load it with: asyncagents completion fish | source
function __asyncagents_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in (asyncagents complete -- $words[2..-1] 2>/dev/null)
    switch $line
      case :files
        __fish_complete_path (commandline -ct)
      case :directories
        __fish_complete_directories (commandline -ct)
      case '*'
        echo $line
    end
  end
end
complete -c asyncagents -f
${lines.join("\n")}
complete -c asyncagents -n 'not __fish_use_subcommand' -a '(__asyncagents_complete)'
`;
}

function singleQuoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
