// SPDX-License-Identifier: Apache-2.0
package io.bitjang.browser.app;

import io.bitjang.spring.web.EditLocks;
import io.bitjang.spring.web.RequiresEditLock;
import java.security.Principal;
import java.util.UUID;
import org.springframework.stereotype.Controller;
import org.springframework.ui.Model;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseBody;

/** An editor whose lock is taken by the script (GET /notes/1), and one whose lock the server takes (POST /notes/1/edit). */
@Controller
class NotesPages {
    private final Notes notes;
    private final EditLocks locks;

    NotesPages(Notes notes, EditLocks locks) {
        this.notes = notes;
        this.locks = locks;
    }

    @GetMapping("/")
    String list(Model model) {
        model.addAttribute("notes", notes.all());
        return "list";
    }

    @GetMapping("/notes/{id}")
    String editor(
            @PathVariable String id,
            @RequestParam(defaultValue = "load") String take,
            @RequestParam(defaultValue = "en") String lang,
            @RequestParam(defaultValue = "false") boolean boss,
            Model model) {
        model.addAttribute("note", notes.find(id).orElseThrow());
        model.addAttribute("take", take);
        model.addAttribute("lang", lang);
        model.addAttribute("mayTakeOver", boss ? "true" : null);
        return "note";
    }

    @GetMapping("/plain/{id}")
    String plain(@PathVariable String id, Model model) {
        model.addAttribute("note", notes.find(id).orElseThrow());
        return "plain";
    }

    @PostMapping("/notes/preview")
    @ResponseBody
    String preview(@RequestParam String text) {
        return text;
    }

    @PostMapping("/notes/{id}/edit")
    String open(@PathVariable String id, @RequestParam String clientId, Principal person) {
        String client = clientId.isEmpty() ? UUID.randomUUID().toString() : clientId;
        locks.open("note", id, person, client, null);
        return "redirect:/notes/" + id + "/edit?client=" + client;
    }

    @GetMapping("/notes/{id}/edit")
    String opened(@PathVariable String id, @RequestParam String client, Principal person, Model model) {
        model.addAttribute("lid", locks.resume("note", id, person, client).id().value());
        return editor(id, "load", "en", false, model);
    }

    @PostMapping("/notes/{id}")
    @RequiresEditLock(type = "note", id = "{id}", version = true)
    String save(
            @PathVariable String id,
            @RequestParam String title,
            @RequestParam String text,
            @RequestParam String colour) {
        notes.update(id, title, text, colour);
        return "redirect:/notes/" + id + "/saved";
    }

    @GetMapping("/notes/{id}/saved")
    String saved(@PathVariable String id, Model model) {
        model.addAttribute("note", notes.find(id).orElseThrow());
        return "saved";
    }
}
