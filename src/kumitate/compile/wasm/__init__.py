"""Programs as WebAssembly, written directly: modules that browsers and Node run, without LLVM and without a linker."""

from .module import WasmModule, wasm_module

__all__ = ["WasmModule", "wasm_module"]
